import { describe, expect, test } from "vitest";
import { allowedForNetwork, buildEnvironment, withoutMarks } from "./environment.ts";

const marks = { session_id: "ses_1", workspace_id: "wsp_1" };

describe("a child's environment", () => {
  test("is the caller's and our marks", () => {
    const env = buildEnvironment({ base: { HOME: "/root", A: "base" }, pty: false, marks });
    expect(env).toEqual({
      HOME: "/root",
      A: "base",
      REINS_SESSION_ID: "ses_1",
      REINS_WORKSPACE_ID: "wsp_1",
    });
  });

  test("names everything that is known of the session", () => {
    const env = buildEnvironment({
      base: {},
      pty: true,
      marks: {
        ...marks,
        task_id: "tsk_1",
        issue_id: "ISS-1",
        user_id: "usr_1",
        prior_session_id: "abc",
        agent: true,
      },
    });
    expect(env).toEqual({
      TERM: "xterm-256color",
      COLORTERM: "truecolor",
      REINS_SESSION_ID: "ses_1",
      REINS_WORKSPACE_ID: "wsp_1",
      REINS_TASK_ID: "tsk_1",
      REINS_ISSUE_ID: "ISS-1",
      REINS_USER_ID: "usr_1",
      CLAUDE_SESSION_ID: "abc",
      REINS_AGENT: "1",
    });
  });

  test("names no terminal but the session's own", () => {
    const outer = {
      TERM: "tmux-256color",
      COLORTERM: "24bit",
      TMUX: "/tmp/tmux-0/default,1,0",
      TMUX_PANE: "%1",
      TERM_PROGRAM: "iTerm.app",
      TERM_PROGRAM_VERSION: "3",
      STY: "1.pts-0",
      WINDOWID: "7",
      KITTY_WINDOW_ID: "1",
      ZELLIJ_SESSION_NAME: "z",
      SSH_TTY: "/dev/pts/3",
      COLUMNS: "132",
    };
    const kept = { SSH_CONNECTION: "1.2.3.4 5 6.7.8.9 22", EDITOR: "vi" };
    const parts = { base: { ...outer, ...kept }, marks };
    const {
      REINS_SESSION_ID: _id,
      REINS_WORKSPACE_ID: _workspace,
      ...rest
    } = buildEnvironment({
      ...parts,
      pty: true,
    });
    expect(rest).toEqual({ ...kept, TERM: "xterm-256color", COLORTERM: "truecolor" });
    // A command without a terminal gets its caller's environment as it is.
    expect(buildEnvironment({ ...parts, pty: false })).toMatchObject(parts.base);
  });

  test("takes no name of ours from a caller but where the data is and what shows it", () => {
    const env = buildEnvironment({
      base: {
        REINS_TOKEN: "secret",
        REINS_HOME: "/data",
        REINS_OUTER_SESSIONS: "ses_a:ses_b",
        REINS_SESSION_ID: "ses_outer",
        REINS_AGENT: "1",
        REINS_USER_ID: "usr_root",
      },
      pty: false,
      marks,
    });
    expect(env).toEqual({
      REINS_HOME: "/data",
      REINS_OUTER_SESSIONS: "ses_a:ses_b",
      REINS_SESSION_ID: "ses_1",
      REINS_WORKSPACE_ID: "wsp_1",
    });
  });

  test("says what terminal it is, whatever the caller's is", () => {
    const parts = { base: { TERM: "dumb" }, marks };
    expect(buildEnvironment({ ...parts, pty: true }).TERM).toBe("xterm-256color");
    expect(buildEnvironment({ ...parts, pty: false }).TERM).toBe("dumb");
  });
});

describe("what callers over the network get of ours", () => {
  test("is what a program needs to run, and what the operator names", () => {
    const ours = {
      PATH: "/bin",
      HOME: "/root",
      LC_ALL: "C",
      XDG_RUNTIME_DIR: "/run",
      AWS_SECRET: "s",
      GH_TOKEN: "t",
      LD_PRELOAD: "x",
      UNSET: undefined,
    };
    expect(allowedForNetwork(ours, ["GH_TOKEN", "MISSING", "UNSET"])).toEqual({
      PATH: "/bin",
      HOME: "/root",
      LC_ALL: "C",
      XDG_RUNTIME_DIR: "/run",
      GH_TOKEN: "t",
    });
  });
});

describe("our own processes", () => {
  test("carry no mark of the session that they were started in", () => {
    const env = { PATH: "/bin", REINS_SESSION_ID: "ses_1", REINS_AGENT: "1", GONE: undefined };
    expect(withoutMarks(env)).toEqual({ PATH: "/bin" });
  });
});

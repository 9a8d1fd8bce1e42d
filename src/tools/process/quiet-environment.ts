/** Keeps git, editors, pagers and installers from asking somebody who is not there. */
export const quietEnvironment: Readonly<Record<string, string>> = {
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  EDITOR: "true",
  VISUAL: "true",
  GIT_TERMINAL_PROMPT: "0",
  // Where they find no terminal they would open a window on the caller's screen: empty is none, also of SSH_ASKPASS.
  GIT_ASKPASS: "",
  SSH_ASKPASS_REQUIRE: "never",
  NO_COLOR: "1",
  // The host names the terminal of those that have one.
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GH_PAGER: "cat",
  MANPAGER: "cat",
  DEBIAN_FRONTEND: "noninteractive",
};

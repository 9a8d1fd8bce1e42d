// Programs of the system that the tests drive. What is missing is installed where that is ours to do, and named
// otherwise.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** Program and the Debian package that brings it. */
const NEEDED = [
  ["bash", "bash"],
  ["chromium", "chromium"],
  ["dialog", "dialog"],
  ["fish", "fish"],
  ["git", "git"],
  ["jq", "jq"],
  ["less", "less"],
  ["mount", "mount"],
  ["prlimit", "util-linux"],
  ["ps", "procps"],
  ["python3", "python3"],
  ["setsid", "util-linux"],
  ["ssh", "openssh-client"],
  ["tmux", "tmux"],
  ["vi", "vim-tiny"],
  ["zsh", "zsh"],
];

/** Answers a sentence for each program that could not be had. */
export function installPrograms() {
  const missing = NEEDED.filter(([program]) => !isInstalled(program));
  if (missing.length === 0) return [];
  const packages = missing.map(([, name]) => name);
  if (process.getuid?.() === 0 && isInstalled("apt-get")) {
    process.stdout.write(`installing ${packages.join(", ")}\n`);
    const options = {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    };
    spawnSync("apt-get", ["update", "-qq"], options);
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], options);
  }
  return missing
    .filter(([program]) => !isInstalled(program))
    .map(
      ([program, name]) =>
        `the tests need ${program}; install it first (Debian: apt-get install ${name})`,
    );
}

function isInstalled(program) {
  return (process.env.PATH ?? "").split(":").some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

// Programs of the system that the tests drive. Root gets the missing ones installed; everyone else gets the command that
// installs them.
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

/** Answers what to do about those that could not be installed. */
export function installPrograms() {
  const packages = missingPackages();
  if (packages.length === 0) return [];
  const isRoot = process.getuid?.() === 0;
  if (isRoot && isInstalled("apt-get")) {
    process.stdout.write(`Installing the programs that the tests drive: ${packages.join(" ")}\n`);
    const options = {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    };
    spawnSync("apt-get", ["update", "-qq"], options);
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], options);
  }
  const left = missingPackages();
  return left.length === 0 ? [] : [describeMissing(left, { isRoot })];
}

export function describeMissing(packages, { isRoot }) {
  const install = `${isRoot ? "" : "sudo "}apt-get install ${packages.join(" ")}`;
  return `The tests drive programs that are not installed. On Debian or Ubuntu, install them with: ${install}`;
}

function missingPackages() {
  const missing = NEEDED.filter(([program]) => !isInstalled(program));
  return [...new Set(missing.map(([, name]) => name))];
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

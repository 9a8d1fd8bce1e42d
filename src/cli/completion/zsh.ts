import { quote } from "#base/shell-quote.ts";
import { COUNTED_WORDS, type CommandGrammar } from "./grammar.ts";
import { LIST_SESSIONS, renderBranches, slotBranches, valueBranches } from "./script.ts";

/** To be sourced, or kept as \`_reins\` in a folder of \`$fpath\`. */
export function renderZsh(grammar: readonly CommandGrammar[]): string {
  const names = grammar.map(({ name, summary }) => describe(name, summary));
  const top = [describe("--help", "how it is used"), describe("--version", "which version it is")];
  return `#compdef reins
# Completes reins in zsh: source <(reins completion zsh)
_reins_offer() { compadd -- "$@" }
_reins_sessions() {
  local -a ids
  ids=(\${(f)"$(${LIST_SESSIONS})"})
  compadd -a ids
}
_reins_files() { _files }
_reins_folders() { _files -/ }
_reins_program() { _command_names -e; _files }
_reins() {
  local word=$words[CURRENT] command=$words[2] program='' flag='' first='' item
  local -i count=0 at=3
  local -a flags valued
  if (( CURRENT <= 2 )); then
    flags=(${[...names, ...top].join(" ")})
    _describe command flags
    return
  fi
  case $command in
${grammar.map(renderCommand).join("\n")}
    (*) return 1 ;;
  esac
  while (( at < CURRENT )); do
    item=$words[at]
    (( at += 1 ))
    if [[ -n $flag ]]; then
      flag=''
      continue
    fi
    case $item in
      (--)
        [[ -n $program ]] || continue
        if (( at == CURRENT )); then _reins_program; else _files; fi
        return ;;
      (--*=*) ;;
      (-*) (( \${valued[(Ie)$item]} )) && flag=$item ;;
      (*)
        (( count > 0 )) || first=$item
        (( count >= ${COUNTED_WORDS} )) || (( count += 1 )) ;;
    esac
    case "$program $count $first" in
      (*.yaml|*.yml) ;;
      ('1 '[1-9]*) _files; return ;;
    esac
  done
  if [[ -z $flag && $word == --*=* ]]; then
    flag=\${word%%=*}
    compset -P '*='
  fi
  if [[ -n $flag ]]; then
    case "$command $flag" in
${renderBranches(valueBranches(grammar), "      ")}
    esac
    return
  fi
  if [[ $word == -* ]]; then
    _describe option flags
    return
  fi
  case "$command $count $first" in
${renderBranches(slotBranches(grammar), "    ")}
    *) _describe option flags ;;
  esac
}
# Kept in a folder of $fpath, this file is the function itself.
if [[ $funcstack[1] == _reins ]]; then _reins "$@"; else compdef _reins reins; fi
`;
}

function renderCommand({ name, flags, takesProgram }: CommandGrammar): string {
  const described = flags.map((flag) => describe(flag.name, flag.meaning));
  const valued = flags.filter(({ takesValue }) => takesValue).map((flag) => flag.name);
  const parts = [
    `flags=(${described.join(" ")})`,
    `valued=(${valued.join(" ")})`,
    ...(takesProgram ? ["program=1"] : []),
  ];
  return `    (${name}) ${parts.join(" ")} ;;`;
}

/** A colon divides the word from what it means. */
function describe(word: string, meaning: string): string {
  return quote(`${word}:${meaning.replaceAll("\\", "\\\\").replaceAll(":", "\\:")}`);
}

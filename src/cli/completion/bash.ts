import { quote } from "#base/shell-quote.ts";
import { COUNTED_WORDS, type CommandGrammar } from "./grammar.ts";
import { LIST_SESSIONS, renderBranches, slotBranches, TOP_FLAGS, valueBranches } from "./script.ts";

/** Also for the bash 3.2 of macOS, which has no `compopt`. */
export function renderBash(grammar: readonly CommandGrammar[]): string {
  const names = grammar.map(({ name }) => name).join(" ");
  return `# Completes reins in bash: source <(reins completion bash)
_reins_offer() { COMPREPLY+=($(compgen -W "$*" -- "$word")); }
_reins_sessions() { _reins_offer "$(${LIST_SESSIONS})"; }
_reins_files() { compopt -o default 2>/dev/null || COMPREPLY+=($(compgen -f -- "$word")); }
_reins_folders() { compopt -o dirnames 2>/dev/null || COMPREPLY+=($(compgen -d -- "$word")); }
_reins_program() { COMPREPLY+=($(compgen -c -- "$word")); _reins_files; }
_reins() {
  local IFS=$' \\t\\n' word=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]}
  local flags='' valued='' program='' flag='' first='' count=0 at=2 item='' before
  COMPREPLY=()
  if [ "$COMP_CWORD" -le 1 ]; then
    _reins_offer ${names} ${TOP_FLAGS.join(" ")}
    return
  fi
  case $command in
${grammar.map(renderCommand).join("\n")}
    *) return ;;
  esac
  while [ "$at" -lt "$COMP_CWORD" ]; do
    before=$item item=\${COMP_WORDS[at]}
    at=$((at + 1))
    # bash takes --option=value for three words.
    if [ -n "$flag" ]; then
      [ "$item" = = ] || flag=''
      continue
    fi
    case $item in
      --)
        [ -n "$program" ] || continue
        if [ "$at" -eq "$COMP_CWORD" ]; then _reins_program; else _reins_files; fi
        return ;;
      =) flag=$before ;;
      -*) case $valued in *" $item "*) flag=$item ;; esac ;;
      *)
        [ "$count" -gt 0 ] || first=$item
        [ "$count" -ge ${COUNTED_WORDS} ] || count=$((count + 1)) ;;
    esac
    case "$program $count $first" in
      *.yaml|*.yml) ;;
      '1 '[1-9]*) _reins_files; return ;;
    esac
  done
  [ "$word" != = ] || { word='' flag=$item; }
  if [ -n "$flag" ]; then
    case "$command $flag" in
${renderBranches(valueBranches(grammar), "      ")}
    esac
    return
  fi
  case $word in
    -*) _reins_offer "$flags"; return ;;
  esac
  case "$command $count $first" in
${renderBranches(slotBranches(grammar), "    ")}
    *) _reins_offer "$flags" ;;
  esac
}
complete -F _reins reins
`;
}

function renderCommand({ name, flags, takesProgram }: CommandGrammar): string {
  const all = flags.map((flag) => flag.name).join(" ");
  const valued = flags.filter(({ takesValue }) => takesValue).map((flag) => flag.name);
  const parts = [
    `flags=${quote(all)}`,
    ...(valued.length === 0 ? [] : [`valued=${quote(` ${valued.join(" ")} `)}`]),
    ...(takesProgram ? ["program=1"] : []),
  ];
  return `    ${name}) ${parts.join(" ")} ;;`;
}

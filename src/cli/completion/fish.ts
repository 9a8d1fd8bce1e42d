import { COUNTED_WORDS, type CommandGrammar } from "./grammar.ts";
import { type Branch, LIST_SESSIONS, slotBranches, valueBranches } from "./script.ts";

export function renderFish(grammar: readonly CommandGrammar[]): string {
  const names = grammar.map(({ name, summary }) => `${quote(name)} ${quote(summary)}`);
  const top = ["--help 'how it is used'", "--version 'which version it is'"];
  return `# Completes reins in fish: reins completion fish | source
function _reins_offer; printf '%s\\n' $argv; end
function _reins_sessions; ${LIST_SESSIONS}; end
function _reins_files; __fish_complete_path (commandline -ct); end
function _reins_folders; __fish_complete_directories (commandline -ct); end
function _reins_program; __fish_complete_command; end
function _reins
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l flags
    set -l valued
    set -l program ''
    set -l flag ''
    set -l first ''
    set -l count 0
    set -l wants_program ''
    if test (count $words) -lt 2
        printf '%s\\t%s\\n' ${[...names, ...top].join(" ")}
        return
    end
    set -l command $words[2]
    set -e words[1..2]
    switch $command
${grammar.map(renderCommand).join("\n")}
        case '*'
            return
    end
    for item in $words
        if test -n "$wants_program"
            _reins_files
            return
        end
        if test -n "$flag"
            set flag ''
            continue
        end
        if test "$item" = --
            set wants_program $program
            continue
        end
        switch $item
            case '--*=*'
            case '-*'
                contains -- $item $valued; and set flag $item
            case '*'
                test $count -gt 0; or set first $item
                test $count -ge ${COUNTED_WORDS}; or set count (math $count + 1)
        end
        switch "$program $count $first"
            case '*.yaml' '*.yml' '1 0 *'
            case '1 *'
                _reins_files
                return
        end
    end
    if test -n "$wants_program"
        _reins_program
        return
    end
    if test -n "$flag"
        switch "$command $flag"
${renderBranches(valueBranches(grammar))}
        end
        return
    end
    if string match -q -- '-*' "$word"
        printf '%s\\t%s\\n' $flags
        return
    end
    switch "$command $count $first"
${renderBranches(slotBranches(grammar))}
        case '*'
            printf '%s\\t%s\\n' $flags
    end
end
complete -c reins -f -a '(_reins)'
`;
}

function renderCommand({ name, flags, takesProgram }: CommandGrammar): string {
  const described = flags.map((flag) => `${flag.name} ${quote(flag.meaning)}`);
  const valued = flags.filter(({ takesValue }) => takesValue).map((flag) => flag.name);
  return [
    `        case ${name}`,
    `            set flags ${described.join(" ")}`,
    ...(valued.length === 0 ? [] : [`            set valued ${valued.join(" ")}`]),
    ...(takesProgram ? ["            set program 1"] : []),
  ].join("\n");
}

function renderBranches(branches: readonly Branch[]): string {
  return branches
    .flatMap(({ patterns, action }) => [
      `        case ${patterns.map((pattern) => quote(pattern)).join(" ")}`,
      `            ${action}`,
    ])
    .join("\n");
}

/** In fish a backslash stands for itself only when it is doubled. */
function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

# SPDX-License-Identifier: BSD-2-Clause
#
# bash completion for kymo: commands, their options, boards and images. Commands and options are read
# from kymo's own help, so they are what this kymo has. `make install` puts this file where bash-completion
# looks; without installing: . scripts/completion.bash. Proof: test/scripts/check.

# The names that begin with what has been typed.
_kymo_offer() {
    local word
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(compgen -W "$1" -- "$2")
}

# Folder of the boards of this kymo: build/ of its source tree, or share/kymo where it is installed.
_kymo_boards() {
    local folder
    folder=$(dirname "$(readlink -f "$(type -P "$1")")")
    [ "${folder##*/}" != bin ] || folder=${folder%/bin}/share/kymo
    echo "$folder"
}

_kymo() {
    local kymo=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} boards board=virt-a64 i
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ] || { [ "$COMP_CWORD" = 2 ] && [ "$command" = help ]; }; then
        _kymo_offer "--help --version $("$kymo" --help 2>/dev/null |
            sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')" "$word"
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" != -- ] || return 0 # the rest is the emulator's
        [ "${COMP_WORDS[i]}" != --board ] || board=${COMP_WORDS[i + 1]}
    done
    boards=$(_kymo_boards "$kymo")
    case $command,$before in
    run,--board)
        _kymo_offer "$(cd "$boards" && ls -d -- */demo.elf 2>/dev/null | sed 's,/.*,,')" "$word"
        ;;
    run,--image) _kymo_offer "$(cat "$boards/$board/images" 2>/dev/null)" "$word" ;;
    *)
        # Options stand in the usage's brackets, or begin a line or a column of the help.
        [ "${word#-}" = "$word" ] || _kymo_offer "$("$kymo" help "$command" 2>/dev/null |
            grep -oE -- '(^| {2}|\[)(--[a-z][a-z-]*|-[A-Za-z]\>(, --[a-z-]+)?)' |
            tr -d ' [' | tr , '\n' | sort -u)" "$word"
        ;;
    esac
}
complete -o default -F _kymo kymo

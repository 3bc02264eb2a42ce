# shellcheck shell=bash
# Reads a person's entry by `read -e` in a subshell, so that the session's shell does not change. $1 is the prompt, and $2 the
# last entry for the history. Prints `+` and the entry, `-` at the end of the input, or nothing after Ctrl-C.

# Keeps the whole line, because `read` ends at its first newline. Some terminals paste a newline as the key Enter.
__synapse_accept() { __synapse_line=${READLINE_LINE//$'\e[13;1u'/$'\n'}; }

# Completes the word $2 behind the text $1 into COMPREPLY, by Synapse's names and by `complete`. `name` is the readline
# command for the rest.
__synapse_find() {
  local before words spec
  before=${1%"${1##*[![:space:]]}"}
  case $before in
  '' | *['|;&('])
    [[ $2 == */* ]] || name=complete-command
    if [[ ! $before ]] || [[ $2 != /* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "${__synapse_words-}" -- "$2")
    fi
    return
    ;;
  esac
  \builtin read -r -a words <<<"${before##*[|;&(]}"
  spec=$(complete -p -- "${words[0]}") || return
  if [[ $spec == *' -F '* ]]; then
    COMP_LINE=$READLINE_LINE COMP_POINT=$READLINE_POINT COMP_WORDS=("${words[@]}" "$2") COMP_CWORD=${#words[@]}
    spec=${spec##* -F }
    "${spec%% *}" "${words[0]}" "$2" "${words[-1]}"
  else
    spec=${spec#complete }
    mapfile -t COMPREPLY < <(eval "compgen ${spec% *} -- \"\$2\"")
  fi
} 2>/dev/null

__synapse_complete() {
  local IFS=$' \t\n' line=${READLINE_LINE:0:READLINE_POINT} word name=complete common one
  local -a COMPREPLY=() COMP_WORDS
  word=${line##*[[:space:]|;&(]}
  __synapse_find "${line%"$word"}" "$word"
  if ((${#COMPREPLY[@]} > 0)); then
    name=set-mark common=${COMPREPLY[0]}
    for one in "${COMPREPLY[@]}"; do
      while [[ $one != "$common"* ]]; do common=${common%?}; done
    done
    if ((${#COMPREPLY[@]} == 1)); then
      [[ $common == */ ]] || common+=' '
    elif [[ $common == "$word" ]]; then
      printf '%s\n' "$line" >&2
      printf '%s  ' "${COMPREPLY[@]}" >&2
      printf '\n' >&2
    fi
    READLINE_LINE=${line%"$word"}$common${READLINE_LINE:READLINE_POINT}
    READLINE_POINT=$((${#line} - ${#word} + ${#common}))
  fi
  bind "\"\\C-x\\C-t\": $name" 2>/dev/null
}

__synapse_entry() {
  [[ ! ${2-} ]] || \builtin history -s -- "$2"
  (
    set +euxvf +o noclobber
    trap - DEBUG ERR RETURN INT
    IFS=$' \t\n'
    unset -v TMOUT __synapse_line
    {
      bind 'set show-all-if-ambiguous on'
      bind -x '"\C-x\C-a": __synapse_accept'
      bind '"\C-x\C-j": accept-line'
      bind '"\C-m": "\C-x\C-a\C-x\C-j"'
      bind '"\C-j": "\C-x\C-a\C-x\C-j"'
      bind '"\e[13;1u": "\C-x\C-a\C-x\C-j"'
      bind -x '"\C-x\C-f": __synapse_complete'
      bind '"\C-i": "\C-x\C-f\C-x\C-t"'
    } 2>/dev/null
    # A program in the background that saved the modes while a line was edited puts these back when it is killed.
    [[ $(command -p stty -a) != *-icanon* ]] || command -p stty sane
    if IFS= \builtin read -r -e -p "$1"; then
      printf '+%s' "${__synapse_line:-$REPLY}"
    else
      printf -
    fi
  ) </dev/tty 2>/dev/tty
}

# Whether every word is a name that bash's own `read` would take. No regular expression: BASH_REMATCH is the user's.
__synapse_are_names() {
  while (( $# )); do
    [[ $1 == [a-zA-Z_]* ]] || \builtin return 1
    case ${1%%\[*\]} in *[!a-zA-Z0-9_]*) \builtin return 1 ;; esac
    \builtin shift
  done
}

# Whether the line that the session runs speaks of `read`, and of no loop that would wait for its end.
__synapse_is_said() {
  case $(<@directory@/command) in
    *while* | *until*) \builtin return 1 ;;
    *read*) \builtin return 0 ;;
    *) \builtin return 1 ;;
  esac
}

# `read` is the command of ours where bash's own would refuse its words as no names of variables; and where they are such
# names, if nothing can be read from standard input, and the line that runs speaks of `read` and of no such loop. All else
# is for bash's own, with the words as they came.
# shellcheck disable=SC2162
read() {
  case ${1-} in
    -h | --help | --offset* | --limit*) __synapse_call read "$@" ;;
    --) if __synapse_are_names "${@:2}"; then \builtin read "$@"; else __synapse_call read "$@"; fi ;;
    -*) \builtin read "$@" ;;
    *)
      if ! __synapse_are_names "$@"; then
        __synapse_call read "$@"
      elif [[ /dev/stdin -ef /dev/null ]] && __synapse_is_said; then
        __synapse_call read "$@"
      else
        \builtin read "$@"
      fi ;;
  esac
}
\builtin export -f read __synapse_are_names __synapse_is_said __synapse_call

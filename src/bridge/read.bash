# Decides on words that `read` did not know at once: `__synapse_own` stays empty where bash's own is to run.
#
# It is ours where bash would refuse the words as no names of variables. It is ours, too, where they are names, or none,
# at the top level of the session's own command, with nothing that could be read: there, bash could but fail. Not in
# a condition beside a loop, which might have no end.
#
# Where there is something to read, and the name is a file's too, the command may mean either if it has a `read "$file"`:
# then neither runs, since bash's own would take a line away from a loop over the names of files.
__synapse_choose() {
  if [[ ${1-} == -- ]]; then
    \builtin shift
    if (( ! $# )); then \builtin return; fi
    if [[ -e $1 && ! /dev/stdin -ef /dev/null && ${FUNCNAME[2]-} == source && ${BASH_SOURCE[2]} == @directory@/* ]] &&
      __synapse_expands "${BASH_SOURCE[2]}"; then
      __synapse_own=unclear
    fi
  elif [[ ${FUNCNAME[2]-} == source && ${BASH_SOURCE[2]} == @directory@/* ]]; then
    if [[ /dev/stdin -ef /dev/null ]]; then
      # In a condition, no failure ends a shell.
      ( \builtin set -e; ((0)); \builtin exit 0 )
      if (( $? )) || ! __synapse_loops "${BASH_SOURCE[2]}"; then __synapse_own=yes; fi
    elif __synapse_expands "${BASH_SOURCE[2]}"; then
      __synapse_own=unclear
    fi
  fi
  while (( $# )); do
    # A long word is none, and bash would take for ever to look through it.
    if [[ $1 != [a-zA-Z_]* || ${#1} -gt 4095 || ${1%%\[*\]} == *[!a-zA-Z0-9_]* ]]; then __synapse_own=yes; fi
    \builtin shift
  done
}

# Whether a command's text has a loop that lasts as long as its condition. In a subshell: BASH_REMATCH is the user's.
__synapse_loops() (
  before='(^|[;&|({!`[:cntrl:]]|[[:space:]](do|then|else|elif|if|time)[[:space:]])'
  [[ $(<"$1") =~ ${before}[[:space:]]*(while|until)[[:space:]] ]]
)

# Whether a command's text has a `read` of what it expands.
__synapse_expands() {
  \builtin local __synapse_text
  \builtin read -rd '' __synapse_text <"$1"
  [[ $__synapse_text == *read+([[:blank:]])?(--+([[:blank:]]))?(\")[\$\`]* ]]
}

# `read` is bash's own with options and with names of variables, and ours with other words: `__synapse_choose` decides.
# What is said most is decided first, and shows no more than that in a trace.
# shellcheck disable=SC2162
read() {
  case ${1-} in
    -h | --help | --offset* | --limit*) __SYNAPSE_CALL__ ;;
    -[!-]*) \builtin read "$@" ;;
    *)
      # shellcheck disable=SC2199
      if [[ " $@" != @(\ |*[!a-zA-Z0-9_\ ]*|*\ [0-9]*) && ! /dev/stdin -ef /dev/null && ! -e ${1-} ]]; then
        \builtin read "$@"
      else
        { \builtin local - __synapse_own=; \builtin set +vxeuET; } 2>/dev/null
        __synapse_choose "$@"
        case $__synapse_own in
          yes) __SYNAPSE_CALL__ ;;
          unclear)
            if [[ $1 == -- ]]; then \builtin shift; fi
            \builtin printf 'read: %s: the file, or a variable? "read ./%s" shows the file, "builtin read %s" sets the variable\n' "$1" "$1" "$1" >&2
            \builtin return 1 ;;
          *) \builtin read "$@" ;;
        esac
      fi ;;
  esac
}
\builtin export -f read __synapse_choose __synapse_loops __synapse_expands

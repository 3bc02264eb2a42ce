# Decides between Synapse's `read` and bash's own for words that the function `read` does not recognize at once, and runs it.
# The function sources this file, which defines no functions, so that programs have little of Synapse in their environment.
#
# Synapse's is meant if bash would reject the words as variable names. It is also meant for variable names, or for no words,
# at the top level of the session's own command without input: bash's could only fail there. A condition beside a loop is an
# exception, since the loop might never end.
#
# If there is input and the name is also a file's, a command with `read "$file"` may mean either. Then neither runs, since
# bash's own would take a line away from a loop over file names.
# shellcheck disable=SC2162
{ \unset -f builtin; \builtin local -; \builtin local -a __synapse_own='' __synapse_word='' __synapse_text=''; \builtin set +vxeuET; } 2>/dev/null
case ${1-} in -h | --help | --offset* | --limit*) __synapse_own=yes ;; esac
if [[ ! $__synapse_own && $* != -- ]]; then
  if [[ ${FUNCNAME[2]-} == source && ${BASH_SOURCE[2]} == @directory@/* ]]; then
    if [[ ${1-} != -- && /dev/stdin -ef /dev/null ]]; then
      # In a condition, no failure ends a shell.
      ( \builtin set -e; ((0)); \builtin exit 0 )
      # Tests whether the command has a loop that lasts as long as its condition. Runs in a subshell, since BASH_REMATCH
      # is the user's.
      # shellcheck disable=SC2181
      if (( $? )) || ! (
        before='(^|[;&|({!`[:cntrl:]]|[[:space:]](do|then|else|elif|if|time)[[:space:]])'
        [[ $(<"${BASH_SOURCE[2]}") =~ ${before}[[:space:]]*(while|until)[[:space:]] ]]
      ); then __synapse_own=yes; fi
    elif [[ ${1-} != -- || -e ${2-} && ! /dev/stdin -ef /dev/null ]]; then
      # Tests whether the command has a `read` of an expansion.
      \builtin read -rd '' __synapse_text <"${BASH_SOURCE[2]}"
      if [[ $__synapse_text == *read+([[:blank:]])?(--+([[:blank:]]))?(\")[\$\`]* ]]; then __synapse_own=unclear; fi
    fi
  fi
  if [[ ${1-} == -- ]]; then __synapse_text=2; else __synapse_text=1; fi
  for __synapse_word in "${@:__synapse_text}"; do
    # A long word is no name, and bash would take forever to search it.
    if [[ $__synapse_word != [a-zA-Z_]* || ${#__synapse_word} -gt 4095 || ${__synapse_word%%\[*\]} == *[!a-zA-Z0-9_]* ]]; then
      __synapse_own=yes
    fi
  done
fi
case $__synapse_own in
  yes) __SYNAPSE_CALL__ ;;
  unclear)
    if [[ $1 == -- ]]; then \builtin shift; fi
    if [[ -d $1 ]]; then
      __synapse_text="directory, or a variable? \"ls ./$1\" lists the directory"
    else
      __synapse_text="file, or a variable? \"read ./$1\" shows the file"
    fi
    \builtin printf 'read: %s: the %s, "builtin read %s" sets the variable\n' "$1" "$__synapse_text" "$1" >&2
    \builtin return 1 ;;
  *) \builtin read "$@" ;;
esac

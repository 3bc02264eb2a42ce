/**
 * The bash of the bridge, made of the `.bash` files beside this one: change those, and then run
 * `npx vitest run test/bridge/BashText.test.ts -u`.
 *
 * @since 0.1.0
 */

/**
 * The file `call.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const call = `__synapse=
{
  { \\builtin read -t 60 -rN1 __synapse <@directory@/tickets && \\builtin printf %s "$__synapse" >&46; } 46<>@directory@/calls ||
    __synapse=
} 2>/dev/null
if [[ ! $__synapse ]]; then
  if [[ ! -p @directory@/calls || ! -p @directory@/tickets ]]; then
    \\builtin printf '%s: not run: a command has deleted the pipes of Synapse; the next call has new ones\\n' "$1" >&2
  elif { { :; } 46</dev/null; } 2>/dev/null; then
    \\builtin printf '%s: not run: too many commands of Synapse at once: try again\\n' "$1" >&2
  else
    \\builtin printf '%s: not run: the shell may open too few files (ulimit -n), 64 are enough: restart=true starts a new shell\\n' "$1" >&2
  fi
  \\builtin exit 126
fi
{
  if [[ ! -e /dev/stdin || /dev/stdin -ef /dev/null ]]; then __synapse_input=none; else __synapse_input=some; fi
  __synapse_output=away __synapse_pair=0
  while [[ -p @directory@/\${__synapse_pair}o ]]; do
    if [[ /dev/stdout -ef @directory@/\${__synapse_pair}o || /dev/stdout -ef @directory@/\${__synapse_pair}e ]]; then
      __synapse_output=shown
      \\builtin break
    fi
    __synapse_pair=$((__synapse_pair + 1))
  done
  __synapse_words=$*
  if (( \${#__synapse_words} < 1000000 )); then
    \\builtin trap '' PIPE
    \\builtin ulimit -SR >&46
    \\builtin printf '%s\\0' "" "$PWD" "$__synapse_input" "$__synapse_output" "$#" "$@" >&46
  else
    ( \\builtin printf '%s\\0' "" "$PWD" "$__synapse_input" "$__synapse_output" "$#" "$@" >&46 )
  fi 2>/dev/null || {
    \\builtin printf '%s: not run: its words are too long, more than 64 MiB at once: use a pipe, a here-document or a file\\n' "$1" >&2
    \\builtin exit 1
  }
  \\builtin trap - PIPE
  \\builtin exec /bin/bash --norc --noprofile -p @directory@/stub "$__synapse"
} 46>@directory@/slot-"$__synapse-ask"
\\builtin exit 126
`

/**
 * The file `functions.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const functions = `__synapse_call() ( { \\builtin set +vxeuCET; \\builtin shopt -u expand_aliases; } 2>/dev/null; \\builtin . @directory@/call "$@" )
`

/**
 * The file `program.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const program = `#!/bin/bash -p
\\builtin . @directory@/call "\${0##*/}" "$@"
`

/**
 * The file `read.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const read = `__synapse_choose() {
  if [[ \${1-} == -- ]]; then
    \\builtin shift
    if (( ! $# )); then \\builtin return; fi
    if [[ -e $1 && ! /dev/stdin -ef /dev/null && \${FUNCNAME[2]-} == source && \${BASH_SOURCE[2]} == @directory@/* ]] &&
      __synapse_expands "\${BASH_SOURCE[2]}"; then
      __synapse_own=unclear
    fi
  elif [[ \${FUNCNAME[2]-} == source && \${BASH_SOURCE[2]} == @directory@/* ]]; then
    if [[ /dev/stdin -ef /dev/null ]]; then
      ( \\builtin set -e; ((0)); \\builtin exit 0 )
      if (( $? )) || ! __synapse_loops "\${BASH_SOURCE[2]}"; then __synapse_own=yes; fi
    elif __synapse_expands "\${BASH_SOURCE[2]}"; then
      __synapse_own=unclear
    fi
  fi
  while (( $# )); do
    if [[ $1 != [a-zA-Z_]* || \${#1} -gt 4095 || \${1%%\\[*\\]} == *[!a-zA-Z0-9_]* ]]; then __synapse_own=yes; fi
    \\builtin shift
  done
}
__synapse_loops() (
  before='(^|[;&|({!\`[:cntrl:]]|[[:space:]](do|then|else|elif|if|time)[[:space:]])'
  [[ $(<"$1") =~ \${before}[[:space:]]*(while|until)[[:space:]] ]]
)
__synapse_expands() {
  \\builtin local __synapse_text
  \\builtin read -rd '' __synapse_text <"$1"
  [[ $__synapse_text == *read+([[:blank:]])?(--+([[:blank:]]))?(\\")[\\$\\\`]* ]]
}
read() {
  case \${1-} in
    -h | --help | --offset* | --limit*) __SYNAPSE_CALL__ ;;
    -[!-]*) \\builtin read "$@" ;;
    *)
      if [[ " $@" != @(\\ |*[!a-zA-Z0-9_\\ ]*|*\\ [0-9]*) && ! /dev/stdin -ef /dev/null && ! -e \${1-} ]]; then
        \\builtin read "$@"
      else
        { \\builtin local - __synapse_own=; \\builtin set +vxeuET; } 2>/dev/null
        __synapse_choose "$@"
        case $__synapse_own in
          yes) __SYNAPSE_CALL__ ;;
          unclear)
            if [[ $1 == -- ]]; then \\builtin shift; fi
            \\builtin printf 'read: %s: the file, or a variable? "read ./%s" shows the file, "builtin read %s" sets the variable\\n' "$1" "$1" "$1" >&2
            \\builtin return 1 ;;
          *) \\builtin read "$@" ;;
        esac
      fi ;;
  esac
}
\\builtin export -f read __synapse_choose __synapse_loops __synapse_expands
`

/**
 * The file `stub.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const stub = `PATH=/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin LC_ALL=C
slot=@directory@/slot-$1
exec 41<"$slot-answer" || exit
{ exec 42<&0; } 2>/dev/null || exec 42</dev/null
old='' failed=0
temporary='' target='' inplace='' mode='' file='' poured='' pumps=()
what='' to='' text='' path='' skip='' regular='' code=''
next() { IFS= read -r -d '' -u 41 "$@"; }
reply() { printf '%s\\0' "$1" "\${2-}" >&46; }
words() { said=\${1%%$'\\n'*}; said=\${said##*: }; }
discard() {
  if [[ $temporary ]]; then
    exec 44>&-
    rm -f -- "$temporary"
    temporary=
  fi
}
leave() {
  if [[ $old ]]; then
    cat -- "$old" >|"$target" 46>&- 41<&- 42<&-
    rm -f -- "$old"
  fi
  if (( \${#pumps[@]} )); then kill "\${pumps[@]}" 2>/dev/null; fi
  discard
}
trap leave EXIT
refuse() {
  words "$2"
  case $said in
    'No such file or directory' | 'Not a directory') reply missing "$said" ;;
    'Permission denied' | 'Read-only file system' | 'Operation not permitted' | 'Device or resource busy') reply denied "$said" ;;
    'Is a directory') reply directory "$said" ;;
    *) reply io "\${said:-$1}" ;;
  esac
}
endless() {
  if [[ $1 -ef /proc/kmsg || \${1##*/} == trace_pipe ]]; then return 0; fi
  if [[ ! -e $1 || -f $1 ]]; then return 1; fi
  if [[ $2 ]]; then return 0; fi
  [[ ! -S $1 && ( $1 != @(/dev/stdin|/dev/fd/*|/proc/self/fd/*) || -c $1 && ! $1 -ef /dev/null ) ]]
}
open() {
  if [[ -d $1 ]]; then
    reply directory 'Is a directory'
  elif endless "$1" "$3"; then
    reply special 'not a regular file'
  elif [[ -r $1 ]] && { exec 43<"$1"; } 2>/dev/null; then
    if (( $2 )); then
      tail -n "+$(($2 + 1))" <&43 >"$slot-up" 46>&- 41<&- 42<&- &
    else
      cat <&43 >"$slot-up" 46>&- 41<&- 42<&- &
    fi
    file=$! pumps+=($!)
    exec 43<&-
    reply ok
  else
    refuse 'could not be opened' "$(cat -- "$1" 2>&1 >/dev/null 46>&- 41<&- 42<&-)"
  fi
}
resolve() {
  target=$1
  if [[ -L $1 ]]; then
    IFS= read -r -d '' target < <(readlink -fz -- "$1" 46>&- 41<&- 42<&-)
  elif [[ $1 && $1 != */* ]]; then
    target=./$1
  fi
}
identify() {
  local directory=. lines
  resolve "$1"
  if [[ $target == */* ]]; then directory=\${target%/*}/; fi
  lines=$(stat -L -c '%d:%i %h' -- "$directory" "$target" 2>/dev/null 46>&- 41<&- 42<&-)
  local place=\${lines%%$'\\n'*} itself=''
  if [[ $lines == *$'\\n'* && $lines != *' 1' ]]; then itself=\${lines##*$'\\n'}; fi
  reply ok "\${place:+\${place%% *}/\${target##*/}}/\${itself%% *}"
}
begin() {
  target=$1 inplace=''
  if [[ $target == */ || -d $target ]]; then reply directory 'Is a directory'; return; fi
  if ! resolve "$1"; then
    reply io 'a symbolic link that leads nowhere'
    return
  fi
  if [[ -e $1 && ! -f $1 ]]; then reply special 'not a regular file'; return; fi
  if [[ -e $1 && ! $1 -ef $target ]]; then reply io 'a file that was deleted'; return; fi
  local directory=. error
  if [[ $target == */* ]]; then directory=\${target%/*}/; fi
  if [[ -e $target ]]; then
    if [[ ! -w $target ]] && ! error=$({ : >>"$target"; } 2>&1); then refuse 'could not be written' "$error"; return; fi
  elif [[ ! -d $directory ]]; then
    if ! error=$(mkdir -p -- "$directory" 2>&1 46>&- 41<&- 42<&-); then refuse 'its directory could not be made' "$error"; return; fi
  fi
  local mask
  if [[ -e $target || $mode == [0-7]* ]]; then mask=$(umask) && umask 077; fi
  local base=\${target##*/}
  temporary=$directory/.\${base:0:100}.$RANDOM$RANDOM$$
  set -C
  if ! { exec 44>"$temporary"; } 2>/dev/null; then
    if [[ ! -e $target ]]; then
      error=$({ : >"$temporary"; } 2>&1)
      temporary=
      refuse 'could not be made' "$error"
    else
      elsewhere
    fi
  else
    reply ok
  fi
  set +C
  if [[ $mask ]]; then umask "$mask"; fi
}
elsewhere() {
  inplace=yes
  if temporary=$(mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-) && { exec 44>|"$temporary"; } 2>/dev/null; then
    reply ok
  else
    temporary=
    reply denied 'neither its directory nor the one for temporary files can be written'
  fi
}
pour() {
  exec 40<"$slot-down"
  cat <&40 >&"$1" 46>&- 41<&- 42<&- 44>&- &
  poured=$! pumps+=($!)
  exec 40<&-
  reply ok
}
written() {
  if wait "$poured" 2>/dev/null; then
    reply ok
  else
    local error
    error=$({ printf . >&44; } 2>&1)
    discard
    refuse 'could not be written' "$error"
  fi
}
alike() {
  local both
  cp --attributes-only --preserve=mode,ownership,xattr -- "$target" "$temporary" 2>/dev/null 46>&- 41<&- 42<&-
  both=$(stat -c '%a %u %g %h' -- "$target" "$temporary" 2>/dev/null 46>&- 41<&- 42<&-)
  [[ $both && "\${both%%$'\\n'*}" == "\${both##*$'\\n'}" ]]
}
commit() {
  local error
  if [[ ! $inplace && -e $target ]] && ! alike; then inplace=yes; fi
  local changed=$temporary
  if [[ $inplace ]]; then changed=$target; fi
  if [[ $mode ]] && ! error=$(chmod -- "$mode" "$changed" 2>&1 46>&- 41<&- 42<&-); then
    discard
    refuse 'its mode could not be changed' "$error"
    return
  fi
  if [[ ! $inplace ]]; then
    if error=$(mv -fT -- "$temporary" "$target" 2>&1 46>&- 41<&- 42<&-); then
      exec 44>&-
      temporary=
      reply ok
      return
    fi
    if [[ $error != *busy* ]]; then discard; refuse 'could not be replaced' "$error"; return; fi
  fi
  over
}
over() {
  local error
  trap '' HUP INT TERM
  if ! old=$(mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-) || ! error=$(cp -- "$target" "$old" 2>&1 46>&- 41<&- 42<&-); then
    if [[ $old ]]; then rm -f -- "$old"; fi
    old=
    discard
    refuse 'could not be kept' "\${error-}"
  elif error=$({ cat -- "$temporary" >|"$target"; } 2>&1 46>&- 41<&- 42<&-); then
    rm -f -- "$old"
    old=
    discard
    reply ok
  else
    cat -- "$old" >|"$target" 46>&- 41<&- 42<&-
    rm -f -- "$old"
    old=
    discard
    refuse 'could not be written' "$error"
  fi
  trap - HUP INT TERM
}
remove() {
  local error
  if [[ -d $1 && ! -L $1 ]]; then
    reply directory 'Is a directory'
  elif [[ -L $1 || -e $1 && ! -f $1 ]]; then
    reply special 'not a regular file'
  elif error=$(rm -- "$1" 2>&1 46>&- 41<&- 42<&- </dev/null); then
    reply ok
  else
    refuse 'could not be removed' "$error"
  fi
}
mode() {
  local known
  if known=$(stat -L -c %a -- "$1" 2>&1 46>&- 41<&- 42<&-); then reply ok "$known"; else refuse 'its mode is not known' "$known"; fi
}
while next what; do
  case $what in
    say) next to && next text && { printf %s "$text" >&"$to" || failed=1; } ;;
    pour) next to && pour "$to" ;;
    poured) wait "$poured" 2>/dev/null; reply ok "$?" ;;
    input) cat <&42 >"$slot-input" 46>&- 41<&- 42<&- & pumps+=($!) ;;
    open) next path && next skip && next regular && open "$path" "$skip" "$regular" ;;
    close) wait "$file" 2>/dev/null; reply ok "$?" ;;
    identify) next path && identify "$path" ;;
    begin) next path && next mode && begin "$path" ;;
    written) written ;;
    commit) commit ;;
    discard) discard; reply ok ;;
    remove) next path && remove "$path" ;;
    mode) next path && mode "$path" ;;
    exit) next code && exit "$((code ? code : failed))" ;;
  esac
done
exit 1
`

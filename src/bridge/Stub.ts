/**
 * The caller's side of a call: it says what is called, and does to files what the command asks for, with the rights of whoever
 * called it.
 *
 * A call begins with a ticket, one byte that names a slot: a byte is read by one reader only. The slot's FIFOs carry the call;
 * `ask` is open as long as the caller lives.
 *
 * @since 0.1.0
 */
import { quote } from "../bash/Quote.js"

/**
 * The FIFOs of a slot, by the ends of their names. `ask`: what the caller says; `answer`: what it is told to do; `input`: its
 * standard input; `up` and `down`: what it reads and what it writes.
 *
 * @since 0.1.0
 */
export const channels = ["ask", "answer", "input", "up", "down"] as const

/**
 * Where the two sides meet, within the session's directory.
 *
 * @since 0.1.0
 */
export const names = {
  tickets: "tickets",
  calls: "calls",
  call: "call",
  programs: "bin",
  program: "program",
  stub: "stub"
} as const

/**
 * The path of a slot's FIFO.
 *
 * @since 0.1.0
 */
export const channelPath = (directory: string, slot: string, channel: (typeof channels)[number]): string =>
  `${directory}/slot-${slot}-${channel}`

/** Which bash runs the programs; a session has one, but a program needs its path. */
const interpreter = "/bin/bash"

/**
 * Descriptors, high enough not to be a user's, and low enough for every limit: a caller's own must be there for what it reads
 * and writes (`read <(command)`).
 *
 * @since 0.1.0
 */
export const fd = { ask: 40, answer: 41, input: 42, file: 43, temporary: 44, down: 45 } as const

/** Nobody but the stub may hold what tells the other side that it lives. */
const shut = `${fd.ask}>&- ${fd.answer}<&- ${fd.input}<&-`

/** Seconds for a slot to become free. */
const patience = 60

/**
 * The file `call`: takes a slot and says what is called: `$1` is the name, then come its words. The stub goes on from there.
 * Sourced by a subshell, so that nothing of it stays; a shell that is killed shows no more of it than one line.
 *
 * @since 0.1.0
 * @category texts
 */
export const call = (directory: string): string => `
{
  \\builtin read -t ${patience} -rN1 __synapse <${quote(`${directory}/${names.tickets}`)} &&
    \\builtin printf %s "$__synapse" >&${fd.ask} ||
    { \\builtin printf '%s: too many commands of Synapse at once, or its pipes are gone: try again\\n' "$1" >&2; \\builtin exit 126; }
} ${fd.ask}<>${quote(`${directory}/${names.calls}`)}
{
  if [[ ! -e /dev/stdin || /dev/stdin -ef /dev/null ]]; then
    \\builtin printf '%s\\0' "$PWD" none "$#" "$@" >&${fd.ask}
  else
    \\builtin printf '%s\\0' "$PWD" some "$#" "$@" >&${fd.ask}
  fi
  \\builtin exec ${interpreter} --norc --noprofile -p ${quote(`${directory}/${names.stub}`)} "$__synapse"
} ${fd.ask}>${quote(`${directory}/slot-`)}"$__synapse-ask"
\\builtin exit 126
`

/**
 * A program that makes the call under whose name it lies in the PATH.
 *
 * @since 0.1.0
 * @category texts
 */
export const program = (directory: string): string => `#!${interpreter} -p
\\builtin . ${quote(`${directory}/${names.call}`)} "\${0##*/}" "$@"
`

/**
 * What \`program\` goes on with: it does what it is told to, until it is told to end.
 *
 * @since 0.1.0
 * @category texts
 */
export const stub = (directory: string): string => `
PATH=/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin LC_ALL=C
slot=${quote(`${directory}/slot-`)}$1
exec ${fd.answer}<"$slot-answer" || exit
# It may be closed.
{ exec ${fd.input}<&0; } 2>/dev/null || exec ${fd.input}</dev/null
old= failed=0
temporary= target= inplace= file= poured= pumps=()
next() { IFS= read -r -d '' -u ${fd.answer} "$@"; }
reply() { printf '%s\\0' "$1" "\${2-}" >&${fd.ask}; }
# The system's own words at the end of a message.
words() { said=\${1%%$'\\n'*}; said=\${said##*: }; }
discard() {
  if [[ $temporary ]]; then
    exec ${fd.temporary}>&-
    rm -f -- "$temporary"
    temporary=
  fi
}
leave() {
  if [[ $old ]]; then
    cat -- "$old" >|"$target" ${shut}
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
open() {
  if [[ -d $1 ]]; then
    reply directory 'Is a directory'
  elif [[ $3 && -e $1 && ! -f $1 ]]; then
    reply special 'not a regular file'
  elif [[ -r $1 ]] && { exec ${fd.file}<"$1"; } 2>/dev/null; then
    if (( $2 )); then
      tail -n "+$(($2 + 1))" <&${fd.file} >"$slot-up" ${shut} &
    else
      cat <&${fd.file} >"$slot-up" ${shut} &
    fi
    file=$! pumps+=($!)
    exec ${fd.file}<&-
    reply ok
  else
    refuse 'could not be opened' "$(cat -- "$1" 2>&1 >/dev/null ${shut})"
  fi
}
# Before there is a new file, everything that will stand against it is found out.
begin() {
  target=$1 inplace=
  if [[ $target == */ || -d $target ]]; then reply directory 'Is a directory'; return; fi
  if [[ -L $target ]] && ! target=$(readlink -f -- "$1"); then
    reply io 'a symbolic link that leads nowhere'
    return
  fi
  if [[ -e $target && ! -f $target ]]; then reply special 'not a regular file'; return; fi
  local directory=. error
  if [[ $target == */* ]]; then directory=\${target%/*}/; fi
  if [[ -e $target ]]; then
    if [[ ! -w $target ]] && ! error=$({ : >>"$target"; } 2>&1); then refuse 'could not be written' "$error"; return; fi
  elif [[ ! -d $directory ]]; then
    if ! error=$(mkdir -p -- "$directory" 2>&1 ${shut}); then refuse 'its directory could not be made' "$error"; return; fi
  fi
  # Until it has the old one's mode, nobody else may read it.
  local mask
  if [[ -e $target ]]; then mask=$(umask) && umask 077; fi
  local base=\${target##*/}
  temporary=$directory/.\${base:0:100}.$RANDOM$RANDOM$$
  set -C
  if ! { exec ${fd.temporary}>"$temporary"; } 2>/dev/null; then
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
# A directory that can't be written, or holds a mount of that name: the content waits in another until it is whole.
elsewhere() {
  inplace=yes
  if temporary=$(mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null ${shut}) && { exec ${fd.temporary}>|"$temporary"; } 2>/dev/null; then
    reply ok
  else
    temporary=
    reply denied 'neither its directory nor the one for temporary files can be written'
  fi
}
# What comes down goes there, to its end.
pour() {
  exec ${fd.down}<"$slot-down"
  cat <&${fd.down} >&"$1" ${shut} ${fd.temporary}>&- &
  poured=$! pumps+=($!)
  exec ${fd.down}<&-
  reply ok
}
written() {
  if wait "$poured" 2>/dev/null; then
    reply ok
  else
    local error
    error=$({ printf . >&${fd.temporary}; } 2>&1)
    discard
    refuse 'could not be written' "$error"
  fi
}
# As it was, but for its content: the mode, the owner, and what else can be kept.
alike() {
  local both
  cp --attributes-only --preserve=mode,ownership,xattr -- "$target" "$temporary" 2>/dev/null ${shut}
  both=$(stat -c '%a %u %g' -- "$target" "$temporary" 2>/dev/null ${shut})
  [[ $both && "\${both%%$'\\n'*}" == "\${both##*$'\\n'}" ]]
}
commit() {
  local error
  if [[ ! $inplace && -e $target ]] && ! alike; then inplace=yes; fi
  if [[ ! $inplace ]]; then
    if error=$(mv -fT -- "$temporary" "$target" 2>&1 ${shut}); then
      exec ${fd.temporary}>&-
      temporary=
      reply ok
      return
    fi
    if [[ $error != *busy* ]]; then discard; refuse 'could not be replaced' "$error"; return; fi
  fi
  over
}
# Where a file can't be replaced, its content can: with the old one at hand, should that fail. Who asks to end waits for it.
over() {
  local error
  trap '' HUP INT TERM
  if ! old=$(mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null ${shut}) || ! error=$(cp -- "$target" "$old" 2>&1 ${shut}); then
    if [[ $old ]]; then rm -f -- "$old"; fi
    old=
    discard
    refuse 'could not be kept' "\${error-}"
  elif error=$({ cat -- "$temporary" >|"$target"; } 2>&1 ${shut}); then
    rm -f -- "$old"
    old=
    discard
    reply ok
  else
    cat -- "$old" >|"$target" ${shut}
    rm -f -- "$old"
    old=
    discard
    refuse 'could not be written' "$error"
  fi
  trap - HUP INT TERM
}
while next what; do
  case $what in
    say) next to && next text && { printf %s "$text" >&"$to" || failed=1; } ;;
    pour) next to && pour "$to" ;;
    poured) wait "$poured" 2>/dev/null; reply ok "$?" ;;
    input) cat <&${fd.input} >"$slot-input" ${shut} & pumps+=($!) ;;
    open) next path && next skip && next regular && open "$path" "$skip" "$regular" ;;
    close) wait "$file" 2>/dev/null; reply ok "$?" ;;
    begin) next path && begin "$path" ;;
    written) written ;;
    commit) commit ;;
    discard) discard; reply ok ;;
    exit) next code && exit "$((code ? code : failed))" ;;
  esac
done
exit 1
`

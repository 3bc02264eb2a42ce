# shellcheck shell=bash disable=SC2034,SC2154
# The functions of the stub for files that are written. They use its variables.
#
# The file whose owner is known to be the caller, and that has one name only.
own='' begun=''
# Perl, where it is there, looks at a file and replaces it, which takes a process each of `stat`, `cp` and `mv` else. It replaces
# only what has one name, the caller's owner and group, and no extended attributes, so that the mode is all there is to keep.
# Its descriptors must be none that are used here.
helper='' asks='' tells=''
start() {
  local list
  case ${BASH_VERSINFO[5]} in
    x86_64-*-linux-gnu | x86_64-*-linux-musl) list=195 ;;
    aarch64-*-linux-gnu | aarch64-*-linux-musl) list=12 ;;
    *) return ;;
  esac
  hash perl || return
  coproc HELPER { PERL5OPT='' PERL_UNICODE='' PERLIO='' exec perl -f -e '
    $/ = "\0"; $| = 1;
    sub word { my $word = <STDIN>; defined $word or exit; chomp $word; $word }
    sub bare { my $size = syscall $ARGV[0] + 0, $_[0], 0, 0; $size == 0 || $size < 0 && $! == 95 }
    for (my $count = word; $count; $count--) {
      my @at = stat word;
      print @at ? "$at[0]:$at[1] $at[4]:$at[5]:$at[3]\n" : "\n";
    }
    my ($target, $new) = (word, word);
    my @old = lstat $target;
    my @new = lstat $new;
    print 8 == length pack("p", "") && @old && @new && ($old[2] & 0170000) == 0100000 && ($new[2] & 0170000) == 0100000 &&
      "@old[3 .. 5]" eq "@new[3 .. 5]" && $old[3] == 1 && bare($target) && bare($new) &&
      chmod($old[2] & 07777, $new) && rename($new, $target) ? "ok\n" : "no\n"' "$list" 46>&- 41<&- 42<&-; }
  # No word of its end by a signal.
  disown "$HELPER_PID"
  asks=${HELPER[1]-0} tells=${HELPER[0]-0}
  if (( asks > 46 && tells > 46 )); then helper=fresh; else exec {asks}>&- {tells}<&-; fi
}
if [[ $writes ]]; then start; fi 2>/dev/null
# A helper that has ended must not end this.
tell() {
  trap '' PIPE
  printf '%s\0' "$@" >&"$asks"
  trap - PIPE
} 2>/dev/null
# Sets `target` to what a path leads to, with a slash in it: programs take a `-` for their input. A name may end in a newline,
# so that no `$(…)` will do.
resolve() {
  target=$1
  if [[ -L $1 ]]; then
    IFS= read -r -d '' target < <(readlink -fz -- "$1" 46>&- 41<&- 42<&-)
  elif [[ $1 && $1 != */* ]]; then
    target=./$1
  fi
}
# Tells by what files can be known, under all of their names: by its directory and its name there, which stay when it is
# replaced; and where it has several (hard links), by itself.
identify() {
  local path directory lines=() known=() asked=() line=0 at place itself
  for path in "$@"; do
    resolve "$path"
    directory=.
    if [[ $target == */* ]]; then directory=${target%/*}/; fi
    known+=("${target##*/}")
    if [[ -d $directory ]]; then known+=(yes) asked+=("$directory"); else known+=(''); fi
    if [[ -e $target ]]; then known+=(yes) asked+=("$target"); else known+=(''); fi
  done
  if (( ${#asked[@]} )); then
    if [[ $helper == fresh ]]; then tell "${#asked[@]}" "${asked[@]}"; else inquire; fi
    if [[ $looks ]]; then peek "$1"; fi
    if [[ $helper == fresh ]] && ! hear; then inquire; fi
    if (( ! ${#lines[@]} )); then
      mapfile -t -u 40 lines
      exec 40<&-
    fi
  fi
  if (( ${#lines[@]} != ${#asked[@]} )); then
    for path in "$@"; do reply io 'it was changed meanwhile'; done
    return
  fi
  for (( at = 0; at < ${#known[@]}; at += 3 )); do
    place='' itself=''
    if [[ ${known[at + 1]} ]]; then place=${lines[line]%% *}/${known[at]}; line=$((line + 1)); fi
    if [[ ${known[at + 2]} ]]; then
      if [[ ${lines[line]} != *:1 ]]; then itself=${lines[line]%% *}; fi
      if [[ $# == 1 && ${lines[line]} == *" $EUID:${GROUPS[0]}:1" ]]; then own=$1; fi
      line=$((line + 1))
    fi
    reply ok "$place/$itself"
  done
}
# Both are for `identify`, whose variables they use.
inquire() { exec 40< <(exec stat -L -c '%d:%i %u:%g:%h' -- "${asked[@]}" 2>/dev/null 46>&- 41<&- 42<&-); }
hear() {
  local line=''
  helper=''
  for path in "${asked[@]}"; do
    if IFS= read -r -u "$tells" line && [[ $line ]]; then lines+=("$line"); else lines=(); return 1; fi
  done
  helper=known
} 2>/dev/null
# Tells, besides, what a short file holds, which is read while `stat` runs: nothing where `open` has to tell.
look() {
  local looks=yes seen='' text
  identify "$1"
  if [[ $seen ]]; then reply text "$text"; else reply ok; fi
}
# Sets `text` and `seen`, unless the file is long, holds a zero byte or can't be read.
peek() {
  if [[ -f $1 && -r $1 ]] && ! endless "$1" regular && { exec 43<"$1"; } 2>/dev/null; then
    if ! IFS= read -r -d '' -n 16000 -u 43 text 2>/dev/null && [[ ${text+read} ]]; then seen=yes; fi
    exec 43<&-
  fi
}
# Before there is a new file, everything that will stand against it is found out.
begin() {
  local several=${3-}
  target=$1 inplace='' begun=$1
  if [[ $target == */ || -d $target ]]; then reply directory 'Is a directory'; return; fi
  if ! resolve "$1"; then
    reply io 'a symbolic link that leads nowhere'
    return
  fi
  if [[ -e $1 && ! -f $1 ]]; then reply special 'not a regular file'; return; fi
  # By way of a descriptor.
  if [[ -e $1 && ! $1 -ef $target ]]; then reply io 'a file that was deleted'; return; fi
  local error
  directory=./
  if [[ $target == */* ]]; then directory=${target%/*}/; fi
  if [[ -e $target ]]; then
    if [[ ! -w $target ]] && ! error=$({ : >>"$target"; } 2>&1); then refuse 'could not be written' "$error"; return; fi
  elif [[ ! -d $directory ]]; then
    missing
    if ! error=$(exec mkdir -p -- "$directory" 2>&1 46>&- 41<&- 42<&-); then
      if [[ ! $several ]]; then discard; fi
      refuse 'its directory could not be made' "$error"
      return
    fi
  fi
  if [[ $several ]]; then
    if room "$directory"; then
      temporary=$room/new/${target##*/}
      if error=$({ : >"$temporary"; } 2>&1) && { exec 44>"$temporary"; } 2>/dev/null; then reply ok; return; fi
    fi
    temporary=
    if [[ -e $target ]]; then elsewhere; else refuse 'could not be made' "$error"; fi
    return
  fi
  # Until it has the old one's mode, nobody else may read it.
  local mask
  if [[ -e $target || $mode == [0-7]* ]]; then masked; fi
  local base=${target##*/}
  temporary=$directory/.${base:0:100}.$RANDOM$RANDOM$$
  set -C
  if ! { exec 44>"$temporary"; } 2>/dev/null; then
    if [[ ! -e $target ]]; then
      error=$({ : >"$temporary"; } 2>&1)
      temporary=
      discard
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
# Sets `mask` to the umask, and that to 077. A pipe takes it without a process.
masked() {
  exec 40<>"$slot-down"
  umask >&40
  IFS= read -r -u 40 mask
  exec 40<&-
  umask 077
}
# A short content comes in the dialog, also where no file could be begun: descriptor 44 may be the caller's own then.
put() {
  if [[ ! $temporary ]]; then
    reply io 'it was not begun'
  elif printf %s "$1" >&44; then reply ok; else unwritten; fi
} 2>/dev/null
# What is done in part only, where the helper has ended, is seen by the temporary file.
place() {
  local said='' none=()
  if [[ ! $helper || $mode || ! -e $target ]]; then return 1; fi
  if [[ $helper == fresh ]]; then none=(0); fi
  tell "${none[@]}" "$target" "$temporary"
  helper=''
  IFS= read -r -u "$tells" said
  [[ $said == ok || ! $said && -e $target && ! -e $temporary ]]
} 2>/dev/null
commit() {
  if [[ ! $temporary ]]; then reply io 'it could not be written'; return; fi
  if [[ ! $inplace ]] && place; then
    exec 44>&-
    temporary='' made=()
    reply ok
    return
  fi
  exchange
}

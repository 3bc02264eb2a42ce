/**
 * The long help of the `edit` command.
 *
 * @since 0.1.0
 */
export const help = `edit - replace a text in a file

USAGE
  edit <file> <old> <new> [--all]

ARGUMENTS
  <file>     The file, from the current directory: a regular one. It is written as write does it ("write --help"): all
             at once or not at all; its mode and owner stay, a hard link is cut.
  <old>      The text to replace: literally, byte for byte, with its white space and line breaks. It is no pattern:
             . * [ $ mean themselves. It may be of several lines, or a part of one.
  <new>      The text in its place, literally as well; '' takes the old text away.

OPTIONS
  --all      Replaces every occurrence, from the left. Without it, the first one only.
  -h         The usage line.
  --help     This text, as the last word too.
  --         What follows is no option: a text that begins with a dash and is one word.

QUOTING
  'a b'      the text as it stands there, of several lines too
  'it'\\''s'   a single quote within single quotes
  $'a\\tb'    \\t, \\n and \\r as tab, line feed and carriage return; in other quotes they are a backslash and a letter
  "$(cat <<'EOF'
  several lines, with ' and " as they are; line breaks at the end are left out
  EOF
  )"

EXAMPLES
  edit src/a.ts 'const a = 1' 'const a = 2'
  edit src/a.ts 'oldName' 'newName' --all
  edit notes.txt $'first\\nsecond\\n' ''
  edit list.txt -- --old --new
  for f in src/*.ts; do edit "$f" 'old.js' 'new.js' --all; done

OUTPUT
  How many occurrences were replaced, of how many. What is not replaced stays as it is, byte for byte.
  Where <old> is not found, standard error shows what comes nearest to it, and in what it differs.

EXIT CODE
  0 where something was replaced. 1 where nothing was, and the file is unchanged: <old> is not in it, is empty, or is
  the same as <new>, or the file can not be read or written. 126 where the sandbox's policy denies it.
`

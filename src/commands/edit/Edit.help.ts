/**
 * The long help of the `edit` command.
 *
 * @since 0.1.0
 */
export const help = `edit - replace a text in a file, or apply a patch to several

USAGE
  edit <file> <old> <new> [--all]
  edit --patch < <patch>

ARGUMENTS
  <file>     The file, from the current directory: a regular one. It is written as write does it ("write --help"): all
             at once or not at all; its mode and owner stay, a hard link is cut.
  <old>      The text to replace: literally, byte for byte, with its white space and line breaks. It is no pattern:
             . * [ $ mean themselves. It may be of several lines, or a part of one. Its line feeds match CRLF too,
             where the file has it.
  <new>      The text in its place, literally as well, with the line ends of the file; '' takes the old text away.

OPTIONS
  --all      Replaces every occurrence, from the left. Without it, the first one only.
  --patch    (-p) Applies the patch on standard input: all of it, or nothing where a part does not fit.
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

PATCHES
  A unified diff (diff -u, git diff), or this, with lines of context around those that change:
    *** Begin Patch
    *** Update File: src/a.ts
    *** Move to: src/b.ts           (if it gets another name)
    @@ class Name                   (the line above the change; only if the context is there more than once)
     a line that stays
    -a line that goes
    +a line that comes
    *** Add File: src/new.ts
    +each line of it
    *** Delete File: src/old.ts
    *** End Patch
  The context must be there exactly, on the lines that the diff names or else only once; LF matches CRLF. Files lie
  below the current directory, and no link may lead out of it. No binary files, no links as files. A cancel leaves all
  files changed or none.

EXAMPLES
  edit src/a.ts 'const a = 1' 'const a = 2'
  edit src/a.ts 'oldName' 'newName' --all
  edit notes.txt $'first\\nsecond\\n' ''
  edit list.txt -- --old --new
  git diff main -- src | edit --patch
  for f in src/*.ts; do edit "$f" 'old.js' 'new.js' --all; done

OUTPUT
  The lines of the matches that were left, if any; the line of the one that was replaced; and the first lines of the
  change. What is not replaced stays as it is, byte for byte. Of a patch: a line for each file.
  Where <old> or a part of a patch is not found, standard error shows what comes nearest to it, and in what it differs.

EXIT CODE
  0 where something was replaced. 1 where nothing was, and no file is changed: <old> is not there, is empty, or is
  the same as <new>, a patch does not fit, or a file can not be read or written. 126 where the sandbox's policy denies
  it.
`

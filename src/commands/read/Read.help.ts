/**
 * The long help of the `read` command.
 *
 * @since 0.1.0
 */
export const help = `read - show text files with line numbers, and images

USAGE
  read <file>... [--offset N] [--limit N]

ARGUMENTS
  <file>       The file, from the current directory. One that begins with a dash goes after --.
  <file>:A-B   The lines A to B, both counted from 1; <file>:A- from line A on, <file>:A that line alone. A file whose
               own name ends so goes before.

OPTIONS
  --offset N   Lines to skip: --offset 2 begins with line 3. 0 by default.
  --limit N    Lines to show, 1 or more. 2000 by default; SYNAPSE_READ_DEFAULT_LIMIT sets another default.
  -h           The usage line.
  --help       This text, as the last word too.

OUTPUT
  As from cat -n: the number of the line, right-aligned to 6, a tab, the line. The numbers are the file's own.
  Of several files, each has a line "==> name <==" before it.
  In a result, the lines are as many as fit; those longer than 2000 characters are cut, and end in
  "... [N more characters]" (with one character for the dots). In a pipe or a file, each line is whole.
  The CR of lines that end in CRLF is left out, and standard error says so. Bytes that are no UTF-8 are shown as U+FFFD.
  In a result, control characters are shown as pictures, and invisible ones (zero width, direction) as <U+200B>.
  Where lines follow the window, standard error says how many there are, and the call that shows them.
  An empty file, and an offset behind the end, are no error: standard error says how many lines there are.
  Of an image (PNG, JPEG, GIF, WebP), its type, width, height and size; up to 5 MiB and 8000x8000,
  the image goes with the result.

EXAMPLES
  read src/main.ts
  read src/main.ts:200-249
  read src/main.ts --offset 199 --limit 50   the same
  read app.log --limit 100000 | grep -n ERROR
  read 'a name with blanks.txt' README
  for f in src/*.ts; do read "$f" --limit 5; done
  ls | while read f; do read "./$f"; done
  find . -name '*.json' -exec read {} \\;

  A name that a variable could have ("read host") calls bash's own read, unless it stands in a plain line (no while, no
  until) and there is no standard input to read from: "read ./host" is the file in any case. With a standard input, in a
  line that has a 'read "$f"', a name that is a file's too is refused. In scripts of other shells (dash), read is that
  shell's own.

EXIT CODE
  0. 1 where a file can not be read, is a directory, a device, a named pipe, or binary (NUL bytes in its first 8 KiB, or
  the window's); the others are shown. 126 where the sandbox's policy denies it.
`

/**
 * The long help of the `write` command.
 *
 * @since 0.1.0
 */
export const help = `write - write a file

USAGE
  write <file> <content>
  write <file> <<'EOF'
  <command> | write <file>

ARGUMENTS
  <file>     The file, from the current directory. Directories that are missing on the way to it are made. What was in
             the file is replaced, all at once or not at all; its mode and owner stay, a symbolic link stays one.
             A hard link is cut: other names of the file keep the old content. Where the directory can not be written,
             or the owner can not be kept, the file is overwritten in place, from a copy that is complete.
  <content>  What the file holds afterwards, byte for byte as bash passes it: nothing is decoded, no newline is added.
             '' makes the file empty. Without this argument, standard input is the content; with it, nobody reads that.

OPTIONS
  -h         The usage line.
  --help     This text, as the last word too.
  --         What follows is no option: a content that begins with a dash and is one word.

QUOTING
  write f 'a\\nb'     a backslash and an n, as they stand there
  write f $'a\\nb'    two lines
  write f "$x"       the value of a variable
  write f 'don'\\''t'  a single quote within single quotes

EXAMPLES
  write notes.txt 'one line without a newline at its end'
  write src/new/file.ts <<'EOF'
  const price = "$5"   // between 'EOF' and EOF, nothing is expanded and nothing needs to be quoted
  EOF
  curl -s https://example.com/data.json | write data/out.json
  write list.txt -- --dashed

OUTPUT
  Written <bytes> bytes (<lines> lines) to <file>
  Lines are counted as by wc -l, and a last line without a newline counts as well.

EXIT CODE
  0 where all of it was written. 1 where nothing was: no content, a directory, no right to write.
  126 where the sandbox's policy denies it.
`

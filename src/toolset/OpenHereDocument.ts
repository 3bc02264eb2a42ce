/**
 * Tells of a here-document that has no end: bash only warns, and takes all that follows as its text.
 *
 * @since 0.1.0
 */

const warning = /^bash: (?:line \d+: )?warning: here-document at line \d+ delimited by end-of-file \(wanted `(.*)'\)$/m

/**
 * Makes the remark on a command that printed this to its standard error; undefined where all here-documents had an end.
 *
 * @since 0.1.0
 * @category constructors
 */
export const remark = (stderr: string): string | undefined => {
  const word = stderr === "" ? undefined : warning.exec(stderr)?.[1]
  return word === undefined
    ? undefined
    : `[here-document not closed: ${word} must stand alone on a line; all that follows was taken as text]`
}

/** Tells secrets by their text. */

/** Matches tokens by the beginnings that their issuers give them, and private keys. */
const token =
  /(?<![A-Za-z0-9])(gh[a-z]_\w{8}|github_pat_|gl[a-z]{2,5}-\w{8}|sk[-_][\w-]{10}|rk_live_|xox[a-z]-|A[KS]IA[A-Z0-9]{12}|AIza\w{8}|ya29\.|npm_\w{8}|pypi-\w{8}|hf_\w{8}|SG\.\w{8}|shp[a-z]{2}_\w{8}|do[a-z]_v1_|eyJ\w{8})|-----BEGIN/
/** Matches an address with a user other than git's, a setting named like a secret, and the path in which conda puts its token. */
const credential =
  /:\/\/(?!git@)[^/\s@]+@|^[^/\s:@]+:[^/\s@]+@|(passw(or)?d|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|credential)s?["']?\s*[=:]\s*\S|\/t\/[^/]{6,}\//i
const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/** Tests for a long word with digits in which the kind of character changes too often for words: a key in base64 or hexadecimal. */
const isRandom = (word: string): boolean =>
  word.length >= 20 &&
  /\d/.test(word) &&
  (word.match(/(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=\d)\D/g)?.length ?? 0) / word.length >= 0.25

/** Tests for the value of a secret. Paths and addresses have random words that are none: names of builds, of caches. */
export const isSecretValue = (value: string): boolean =>
  token.test(value) ||
  credential.test(value) ||
  uuid.test(value) ||
  (!/^[/.~]|:\//.test(value) && value.split(/[^A-Za-z0-9+/=]+/).some(isRandom))

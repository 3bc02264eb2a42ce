/**
 * Finds refused unix sockets in messages. The sandbox refuses every unix socket with EPERM when it is made, which no file's
 * mode does.
 *
 * @since 0.1.0
 */

import type { Steps } from "../../domain/Slices.js"
import * as Denial from "./Denial.js"
import { isQuoted } from "./Quotation.js"
import { longestMessage } from "./Wording.js"

const notPermitted = /operation not permitted|\bEPERM\b/i
/** Matches the words of a message that is about a unix socket. */
const aboutSocket =
  /\.sock\b|\/\.s\.PGSQL|\bunix(?:_listener|:| |\b.*\bsocket)|\bAF_UNIX\b|socket\.socket\b|_socket\.|\b(?:make|create|open|bind|private) socket\b|(?<!netlink |raw |packet )\bsocket: |error (?:connecting to|creating) \/?\S+ \(|\b(?:connect|listen|bind) EPERM (?!\d)/i
/** Matches sockets of other kinds, which need rights that commands may lack anyway. */
const otherKinds = /netlink|SOCK_RAW|\braw socket|AF_PACKET|packet socket|\bicmp|^ping\b/i
/** Matches commands that name a unix socket. */
const namingSocket = /\bAF_UNIX\b|\bUNIX\b|--unix-socket\b|\.sock\b|\bunix:/
const name = /(?:unix:(?:\/\/)?)?((?:\/|\.\/)[^\s"'():,]+|[^\s"'():,/]+\.sock)(?=[\s"'():,]|$)/

/** The lines before a message, such as those of a stack trace, that may say what it is about. */
const reach = 4
const mostLines = 2000

/**
 * Finds the unix socket that a command was refused; undefined where no message tells of one.
 *
 * @since 0.1.0
 * @category attribution
 */
export function* find(command: string, stderr: string, inReport: boolean): Steps<Denial.Denial | undefined> {
  if (!notPermitted.test(stderr)) return undefined
  const lines = stderr.split("\n").slice(-mostLines)
  for (const [at, whole] of lines.entries()) {
    const line = whole.slice(0, longestMessage)
    const match = notPermitted.exec(line)
    if (match === null) continue
    yield
    const before = line.slice(0, match.index)
    if (otherKinds.test(line) || isQuoted(command, line, { before }, inReport)) continue
    const above = lines.slice(Math.max(0, at - reach), at).map((text) => text.slice(0, longestMessage))
    const isTrace = above.some((text) => /^\s+(?:File|at)\b/.test(text))
    const said = [line, ...(isTrace ? above : [])].join("\n")
    if (otherKinds.test(said)) continue
    if (aboutSocket.test(said) || (namingSocket.test(command) && !/: .+: $/.test(before))) {
      return Denial.socket(name.exec(line)?.[1])
    }
  }
  return undefined
}

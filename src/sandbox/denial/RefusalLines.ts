/**
 * Chooses the lines of an output that are examined for denials.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import type { Mask } from "../platform/SandboxPlatform.js"
import { mentionsRefusal } from "./Wording.js"

/** Matches what may stand around a name in a message. */
const around = /[\s/:'"‘’“”(),]+/

/**
 * Returns the places of the lines with a refusal in the order in which they are examined: where they are more than `most`,
 * those that name what is hidden come first.
 *
 * @since 0.1.0
 * @category reading
 */
export const inOrder = (
  lines: ReadonlyArray<string>,
  masks: ReadonlyArray<Mask>,
  most: number
): ReadonlyArray<number> => {
  const refusing = [...lines.keys()].filter((at) => mentionsRefusal(lines[at] ?? ""))
  if (refusing.length <= most) return refusing
  const names = new Set(masks.map(({ path }) => Path.posix.basename(path)))
  const naming = new Set(refusing.filter((at) => (lines[at] ?? "").split(around).some((word) => names.has(word))))
  return [...naming, ...refusing.filter((at) => !naming.has(at))]
}

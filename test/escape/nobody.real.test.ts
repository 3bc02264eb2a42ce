import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { byRights, byRoot } from "./all.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("attacks by an ordinary user", () => {
  byRights(ground ?? "")
  if (ground !== undefined && !Ground.isSecond()) byRoot(ground)
})

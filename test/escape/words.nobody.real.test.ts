import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { byNobody } from "./all.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("attacks by an ordinary user on what Synapse decides", () => {
  byNobody(ground ?? "")
})

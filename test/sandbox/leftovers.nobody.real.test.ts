import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { leftovers } from "./leftovers.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the sandbox of an ordinary user", () => {
  leftovers("and what its commands leave behind", ground ?? "")
})

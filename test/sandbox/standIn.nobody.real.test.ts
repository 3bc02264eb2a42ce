import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { standIn } from "./standIn.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the sandbox of an ordinary user", () => {
  standIn("and what commands read in the place of hidden files", ground ?? "")
})

import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { work } from "./workflows.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the sandbox of an ordinary user", () => {
  work("and what people work with", ground ?? "")
})

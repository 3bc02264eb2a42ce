import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { work } from "./workflows.suite.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("the sandbox of root", () => {
  work("and what people work with", ground ?? "")
})

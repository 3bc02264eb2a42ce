import { describe } from "@effect/vitest"
import * as Ground from "../../support/escape/Ground.js"
import { network } from "./network.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the sandbox of an ordinary user", () => {
  network("and hosts by name", ground ?? "", Ground.isSecond())
})

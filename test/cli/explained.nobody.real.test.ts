import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { explained } from "./explained.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined || !Ground.seesCheckout())("as an ordinary user", () => {
  explained("synapse sandbox explain", Ground.isSecond())
})

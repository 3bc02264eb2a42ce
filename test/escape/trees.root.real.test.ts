import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { trees } from "./trees.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("trees that root's commands leave", () => trees(ground ?? ""))

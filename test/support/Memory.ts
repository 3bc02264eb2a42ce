/** The memory of this process that is in use, without garbage. */
import * as V8 from "node:v8"
import * as Vm from "node:vm"

V8.setFlagsFromString("--expose-gc")
const collectGarbage: () => void = Vm.runInNewContext("gc")
// Other files share this process: their code caches are valid for the flags that it began with only.
V8.setFlagsFromString("--no-expose-gc")

/** Returns the bytes of the heap and of all buffers after a collection. */
export const used = (): number => {
  collectGarbage()
  // The buffers that the first collection found are freed beside it, and surely gone with the next.
  collectGarbage()
  const { arrayBuffers, external, heapUsed } = process.memoryUsage()
  return arrayBuffers + external + heapUsed
}

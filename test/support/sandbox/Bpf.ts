/** An interpreter for the part of classic BPF that seccomp takes: what the kernel would answer. */
export interface Call {
  readonly number: number
  readonly arch: number
  readonly args?: ReadonlyArray<bigint>
}

export const verdicts = { allow: 0x7fff0000, kill: 0x80000000, notPermitted: 0x00050001, notThere: 0x00050026 }

/** `struct seccomp_data`. */
const dataOf = ({ arch, args = [], number }: Call): DataView => {
  const view = new DataView(new ArrayBuffer(64))
  view.setUint32(0, number, true)
  view.setUint32(4, arch, true)
  args.forEach((arg, at) => {
    view.setBigUint64(16 + 8 * at, BigInt.asUintN(64, arg), true)
  })
  return view
}

/** Throws where the kernel would refuse the program. */
export const run = (program: Uint8Array, call: Call): number => {
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength)
  const data = dataOf(call)
  let accumulator = 0
  for (let at = 0; at < program.length; at += 8) {
    const operation = code.getUint16(at, true)
    const operand = code.getUint32(at + 4, true)
    const jump = (holds: boolean) => {
      at += 8 * code.getUint8(at + (holds ? 2 : 3))
    }
    if (operation === 0x20) accumulator = data.getUint32(operand, true)
    else if (operation === 0x54) accumulator = (accumulator & operand) >>> 0
    else if (operation === 0x15) jump(accumulator === operand)
    else if (operation === 0x35) jump(accumulator >= operand)
    else if (operation === 0x45) jump((accumulator & operand) !== 0)
    else if (operation === 0x06) return operand
    else throw new Error(`no such operation: ${operation}`)
  }
  throw new Error("ran past the end")
}

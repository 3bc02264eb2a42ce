// Stands in for @anthropic-ai/tokenizer in the bundle.
export const countTokens = () => {
  throw new Error("the tokenizer is not part of this program")
}
export const getTokenizer = countTokens

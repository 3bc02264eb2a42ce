/**
 * The rules of docstrings: every exported declaration has one that says what the thing is or does, with an `@since`, and
 * that begins with a verb or with the thing itself.
 */
import * as ts from "typescript"

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

/** Returns the name of a declaration; of a list of variables, the first one's. */
const declaredName = (statement: ts.Statement): string => {
  const named = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : statement
  return (named && ts.getNameOfDeclaration(named as ts.Declaration)?.getText()) ?? "the export"
}

/** Returns the flaws in the docstring of an exported declaration; none for any other statement. */
export const flawsOf = (statement: ts.Statement): ReadonlyArray<string> => {
  if (!isExported(statement)) return []
  const docstring = ts.getJSDocCommentsAndTags(statement).findLast(ts.isJSDoc)
  const text = ts.getTextOfJSDocComment(docstring?.comment)?.trim() ?? ""
  const hasSince = docstring?.tags?.some(({ tagName }) => tagName.text === "since") === true
  const name = declaredName(statement)
  const riddle = /^(What|Whether|Where|How|Why|Who|Whom|When)\b/.exec(text)?.[1]
  return [
    ...(text === "" ? [`${name} has no docstring that says what it is`] : []),
    ...(hasSince ? [] : [`the docstring of ${name} has no @since`]),
    ...(riddle === undefined ? [] : [`the docstring of ${name} begins with ${riddle}: begin with a verb, or the thing`])
  ]
}

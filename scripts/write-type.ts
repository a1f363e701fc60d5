import ts from 'typescript'

const primitive =
  ts.TypeFlags.Any |
  ts.TypeFlags.Unknown |
  ts.TypeFlags.Never |
  ts.TypeFlags.String |
  ts.TypeFlags.Number |
  ts.TypeFlags.Boolean |
  ts.TypeFlags.Null |
  ts.TypeFlags.Undefined |
  ts.TypeFlags.Void |
  ts.TypeFlags.NonPrimitive |
  ts.TypeFlags.StringLiteral |
  ts.TypeFlags.NumberLiteral |
  ts.TypeFlags.BooleanLiteral

/**
 * Writes a type of data out, down to its primitives, without the names that it is declared by. Interfaces, which may
 * refer to themselves, keep theirs: they are added to `hoisted` by name.
 */
export function writeType(checker: ts.TypeChecker, type: ts.Type, hoisted: Map<string, string>): string {
  const write = (each: ts.Type) => writeType(checker, each, hoisted)
  if (type.flags & primitive) return checker.typeToString(type)
  if (type.isUnion()) return writeUnion(checker, type.types, hoisted)
  if (checker.isTupleType(type))
    return `[${checker
      .getTypeArguments(type as ts.TypeReference)
      .map(write)
      .join(', ')}]`
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type as ts.TypeReference)
    const list = type.symbol.name === 'ReadonlyArray' ? 'ReadonlyArray' : 'Array'
    return `${list}<${item ? write(item) : 'unknown'}>`
  }
  if (type.flags & ts.TypeFlags.TypeParameter) return type.symbol.name
  if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)))
    throw new Error(`${checker.typeToString(type)} is no type of data`)
  const symbol = type.symbol as ts.Symbol | undefined
  const isNamed = symbol && !symbol.name.startsWith('__')
  if (!isNamed) return writeObject(checker, type, hoisted)
  const isForeign = symbol.declarations?.[0]?.getSourceFile().isDeclarationFile
  if (!isForeign) hoist(checker, symbol, hoisted)
  const given = checker.getTypeArguments(type as ts.TypeReference)
  return given.length === 0 ? symbol.name : `${symbol.name}<${given.map(write).join(', ')}>`
}

/** Adds an interface with its type parameters, once. */
function hoist(checker: ts.TypeChecker, symbol: ts.Symbol, hoisted: Map<string, string>): void {
  const { name } = symbol
  if (hoisted.has(name)) return
  hoisted.set(name, '')
  const type = checker.getDeclaredTypeOfSymbol(symbol) as ts.InterfaceType
  const parameters = (type.typeParameters ?? []).map((each) => {
    const [constraint, preset] = [each.getConstraint(), each.getDefault()]
    return [
      each.symbol.name,
      ...(constraint ? ['extends', writeType(checker, constraint, hoisted)] : []),
      ...(preset ? ['=', writeType(checker, preset, hoisted)] : []),
    ].join(' ')
  })
  const list = parameters.length === 0 ? '' : `<${parameters.join(', ')}>`
  hoisted.set(name, `export interface ${name}${list} ${writeObject(checker, type, hoisted)}`)
}

function writeUnion(
  checker: ts.TypeChecker,
  types: readonly ts.Type[],
  hoisted: Map<string, string>,
): string {
  const texts = new Set(types.map((each) => writeType(checker, each, hoisted)))
  if (texts.has('true') && texts.has('false')) {
    texts.delete('true')
    texts.delete('false')
    texts.add('boolean')
  }
  return texts.size === 1 ? [...texts].join() : `(${[...texts].join(' | ')})`
}

/** The fields of an object, each with its comment where there is one. */
export function writeObject(
  checker: ts.TypeChecker,
  type: ts.Type,
  hoisted: Map<string, string>,
  comments: ReadonlyMap<string, string> = new Map(),
): string {
  if (type.getCallSignatures().length > 0) throw new Error(`${checker.typeToString(type)} is no type of data`)
  const fields = checker.getPropertiesOfType(type).flatMap((property) => {
    const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
    const value = checker.getTypeOfSymbol(property)
    const types = value.isUnion() ? value.types : [value]
    // An optional field has `undefined` among its types as the checker sees it.
    const given = isOptional ? types.filter((each) => !(each.flags & ts.TypeFlags.Undefined)) : types
    const name = property.getName()
    const comment = comments.get(name)
    return [
      ...(comment === undefined ? [] : [`/** ${comment} */`]),
      `${JSON.stringify(name)}${isOptional ? '?' : ''}: ${writeUnion(checker, given, hoisted)}`,
    ]
  })
  for (const { keyType, type: value } of checker.getIndexInfosOfType(type))
    fields.push(`[key: ${checker.typeToString(keyType)}]: ${writeType(checker, value, hoisted)}`)
  return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n}`
}

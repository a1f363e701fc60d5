import { readFile } from 'node:fs/promises'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { packageFile } from '../../platform/files/package-files.ts'
import { ImportFault } from './import-fault.ts'

const strict = { additionalProperties: false } as const

/**
 * How one value of an event is made of a record:
 * a text is a template (`https://shop.example/invoices/{InvoiceNo}`; `{{` is a brace),
 * `column` takes one column as it is, `removeSuffix` cuts an ending off, `firstOf` takes the first that is
 * not empty, `list` takes that column of all records of a group (each value once, in order of appearance),
 * `sumOf` multiplies its columns in each record and adds the products up, in decimal arithmetic,
 * `constant` is the value itself. Apart from `list` and `sumOf`, a group is read by its first record.
 */
const RecordSource = Type.Union([
  Type.String(),
  Type.Object({ column: Type.String(), removeSuffix: Type.Optional(Type.String()) }, strict),
])

const Source = Type.Union([
  RecordSource,
  Type.Object({ firstOf: Type.Array(RecordSource, { minItems: 1 }) }, strict),
  Type.Object({ list: Type.String() }, strict),
  Type.Object({ sumOf: Type.Array(Type.String(), { minItems: 1 }) }, strict),
  Type.Object({ constant: Type.Unknown() }, strict),
])

const Condition = Type.Union([
  Type.Object({ column: Type.String(), startsWith: Type.String() }, strict),
  Type.Object({ column: Type.String(), equals: Type.String() }, strict),
  Type.Object({ column: Type.String(), empty: Type.Boolean() }, strict),
  Type.Object({ column: Type.String(), notPositive: Type.Literal(true) }, strict),
])

/** The mapping file of the `import` command. */
export const Mapping = Type.Object(
  {
    description: Type.Optional(Type.String()),
    /** Records that match any of these are left out and counted. */
    leaveOut: Type.Optional(Type.Array(Condition)),
    /** Records with the same text in this column become one event. */
    groupBy: Type.Optional(Type.String()),
    event: Type.Object(
      {
        name: Source,
        url: Source,
        referrer: Type.Optional(Source),
        tmpId: Source,
        clientId: Type.Optional(Source),
        eventId: Type.Optional(Source),
        timestamp: Type.Optional(
          Type.Object(
            {
              column: Type.String(),
              unit: Type.Optional(Type.Union([Type.Literal('ms'), Type.Literal('s')])),
            },
            strict,
          ),
        ),
        data: Type.Record(Type.String(), Source),
      },
      strict,
    ),
  },
  strict,
)
export type Mapping = Static<typeof Mapping>
export type Source = Static<typeof Source>
export type Condition = Static<typeof Condition>

const mappingCheck = Compile(Mapping)
const shipped = packageFile('mappings/')

/**
 * Reads a mapping file, or one that is shipped when a bare name is given (`online-retail`).
 * @throws ImportFault that names the file and what is wrong in it
 */
export async function readMapping(nameOrPath: string): Promise<Mapping> {
  const isName = /^[a-z0-9-]+$/.test(nameOrPath)
  const path = isName ? new URL(`${nameOrPath}.json`, shipped) : nameOrPath
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const hint = isName ? ' (a bare name means a shipped mapping; write ./name.json for a file)' : ''
    throw new ImportFault(`The mapping ${nameOrPath} cannot be read: ${(error as Error).message}${hint}`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ImportFault(`The mapping ${nameOrPath} is not valid JSON: ${(error as Error).message}`)
  }
  if (mappingCheck.Check(value)) return value
  const [first] = mappingCheck.Errors(value)
  const where = first?.instancePath.replaceAll('/', '.').slice(1) || 'the document'
  throw new ImportFault(`The mapping ${nameOrPath} is not valid: ${where} ${first?.message ?? ''}`)
}

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { SECRET_SETTINGS, SETTINGS } from '../../src/config/schema.ts'

/** The Helm chart and what is made of it. `npm test` has no Helm, and compares what was rendered last. */

export const CHART = 'deploy/helm/grantor'
export const SCHEMA_FILE = `${CHART}/values.schema.json`
/** The names of the files in deploy/helm/values. Each is rendered into a file of this name in deploy/helm/rendered. */
export const VALUE_FILES = ['postgres', 'sqlite', 'gateway', 'everything'] as const
export type ValueFile = (typeof VALUE_FILES)[number]

/** The settings that the chart makes of other values. */
const OWN_SETTINGS = new Set([
  ...SECRET_SETTINGS,
  'PORT',
  'GRANTOR_ISSUER',
  'GRANTOR_TRUST_PROXY',
  'GRANTOR_ADMIN_PORT',
  'GRANTOR_ADMIN_HOST',
  'GRANTOR_CONSOLE_URL',
  'GRANTOR_DRAIN_SECONDS',
  'GRANTOR_CONFIG',
])
/** Variables of Node.js that values may set besides. */
const NODE_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS']

export type Members = Readonly<Record<string, unknown>>

export function valuesPath(name: ValueFile): string {
  return `deploy/helm/values/${name}.yaml`
}

export function renderedPath(name: ValueFile): string {
  return `deploy/helm/rendered/${name}.yaml`
}

/** The first line of a rendered file. It changes with each file from which that one is rendered. */
export function firstLine(name: ValueFile): string {
  const hash = createHash('sha256')
  const sources = globSync(`${CHART}/{Chart.yaml,values.yaml,templates/*}`).toSorted()
  for (const path of [...sources, valuesPath(name)]) hash.update(`${path}\0`).update(readFileSync(path)).update('\0')
  return `# Made by "npm run prove chart -- --write" of the templates and ${name}.yaml, sha256 ${hash.digest('hex')}`
}

/** The objects of a rendered file. @throws Error if it is no YAML */
export function objectsOf(text: string): readonly Members[] {
  return parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    const object = document.toJS() as Members | null
    return object === null ? [] : [object]
  })
}

/** values.schema.json with the names of the table of settings, as `npm run docs` writes it. */
export function schemaWithSettings(): string {
  const schema = JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')) as {
    readonly properties: { readonly settings: { properties: Members } }
  }
  const names = [...Object.keys(SETTINGS.shape).filter((name) => !OWN_SETTINGS.has(name)), ...NODE_VARIABLES]
  schema.properties.settings.properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return `${JSON.stringify(schema, undefined, 2)}\n`
}

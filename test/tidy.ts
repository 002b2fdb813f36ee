/** The rules of the house (docs/architecture.md) as a function over source texts, so that it can be shown a bad house. */

export interface SourceFile {
  /** From the repository's root: `src/protocol/pkce.ts`. */
  readonly path: string
  readonly text: string
}

interface Layer {
  readonly layers: readonly string[]
  readonly packages: readonly string[]
  /** Adapters and front doors may use what Node brings. */
  readonly node: 'any' | readonly string[]
  /** Reads no clock, no chance and no environment, and starts nothing. */
  readonly pure: boolean
}

/** Who may import whom. The same table stands in docs/architecture.md. */
const LAYERS: Readonly<Record<string, Layer>> = {
  protocol: { layers: [], packages: ['zod'], node: ['node:crypto'], pure: true },
  ports: { layers: ['protocol'], packages: [], node: [], pure: true },
  tokens: { layers: ['protocol', 'ports'], packages: [], node: [], pure: true },
  endpoints: { layers: ['protocol', 'ports', 'tokens'], packages: [], node: ['node:assert/strict'], pure: true },
  admin: { layers: ['protocol', 'ports', 'tokens'], packages: ['zod'], node: ['node:assert/strict'], pure: true },
  web: { layers: ['protocol', 'ports'], packages: ['hono'], node: ['node:crypto'], pure: true },
  store: { layers: ['protocol', 'ports'], packages: ['pg'], node: 'any', pure: false },
  keys: { layers: ['protocol', 'ports'], packages: [], node: 'any', pure: false },
  passwords: { layers: ['protocol', 'ports'], packages: [], node: 'any', pure: false },
  http: {
    layers: ['protocol', 'ports', 'endpoints', 'admin', 'web'],
    packages: [],
    node: 'any',
    pure: false,
  },
  cli: {
    layers: ['protocol', 'ports', 'admin', '(root)'],
    packages: ['commander', '@clack/prompts', 'jose', 'zod', 'pino'],
    node: 'any',
    pure: false,
  },
  metrics: {
    layers: ['protocol', 'ports'],
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-proto',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
    ],
    node: 'any',
    pure: false,
  },
  '(root)': {
    layers: [
      'protocol',
      'ports',
      'tokens',
      'endpoints',
      'admin',
      'web',
      'store',
      'keys',
      'passwords',
      'metrics',
      'http',
    ],
    packages: ['pino', 'zod'],
    node: 'any',
    pure: false,
  },
}

const LINE_LIMIT = { src: 250, test: 400, bench: 250, prove: 250 } as const
/** Where `catch` stands: the one place that makes replies, adapters, commands, and rules that turn a throw into a fact. */
const CATCHERS = [
  /^src\/(store|keys|passwords|http|cli)\//,
  /^src\/(build|open-admin|config|config-file|log|open-store|settings)\.ts$/,
  /^src\/protocol\/(json|message)\.ts$/,
  /^src\/endpoints\/(authenticate-client|token|sign-in)\.ts$/,
]
const IMPURE =
  /\b(Date\.now|new Date\(\)|Math\.random|process\.|performance\.now|setTimeout|setInterval|setImmediate|fetch\()/
/** The configuration, and the command line's entry, which hands the terminal's part of it on. */
const ENVIRONMENT_READERS: ReadonlySet<string> = new Set(['src/config.ts', 'src/cli/main.ts'])
const VAGUE_NAMES = /\/(utils?|helpers?|common|types|misc)\.(ts|js)$/

/** Every broken rule, a line each. Empty: the house is tidy. */
export function findDisorder(files: readonly SourceFile[]): readonly string[] {
  const sources = files.filter(({ path }) => path.startsWith('src/'))
  const imports = sources.flatMap((file) => importsOf(file).map((target) => ({ from: file.path, target })))
  return [
    ...(imports.length === 0 ? ['No imports were found: nothing was checked.'] : []),
    ...imports.flatMap(({ from, target }) => judgeImport(from, target)),
    ...sources.flatMap(judgeSource),
    ...files.flatMap(judgeSize),
    ...findCycles(sources),
  ]
}

export function countImports(files: readonly SourceFile[]): number {
  return files.flatMap(importsOf).length
}

/** Static, type-only, re-exporting and dynamic imports, and files named by `new URL('./x.ts', import.meta.url)`. */
function importsOf(file: SourceFile): readonly string[] {
  const found = withoutComments(file).matchAll(/(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*['"]([^'"]+)['"]/g)
  return [...found]
    .map((match) => match[1] ?? '')
    .filter((target) => !/^[a-z]+:\/\//.test(target) && !target.endsWith('.json'))
}

function judgeImport(from: string, target: string): readonly string[] {
  const layerName = layerOf(from)
  const layer = LAYERS[layerName]
  if (layer === undefined) return [`${from}: the folder ${layerName} is no layer.`]
  if (target.startsWith('node:')) {
    return layer.node === 'any' || layer.node.includes(target)
      ? []
      : [`${from}: ${layerName} may not import ${target}.`]
  }
  if (!target.startsWith('.')) {
    const name = target
      .split('/')
      .slice(0, target.startsWith('@') ? 2 : 1)
      .join('/')
    return layer.packages.includes(name) ? [] : [`${from}: ${layerName} may not import the package ${name}.`]
  }
  if (!/\.(ts|js|md|json)$/.test(target) && !target.endsWith('/'))
    return [`${from}: ${target} must be imported with its ending.`]
  const other = layerOf(resolve(from, target))
  return other === layerName || layer.layers.includes(other)
    ? []
    : [`${from}: ${layerName} may not import from ${other}.`]
}

function judgeSource(file: SourceFile): readonly string[] {
  const { path } = file
  const text = withoutComments(file)
  const disorder: string[] = []
  if (LAYERS[layerOf(path)]?.pure === true && IMPURE.test(text))
    disorder.push(`${path}: a pure layer reads the clock, chance or environment.`)
  if (/\bprocess\.env\b/.test(text) && !ENVIRONMENT_READERS.has(path))
    disorder.push(`${path}: only config.ts reads the environment.`)
  if (/\bcatch\b *[({]/.test(text) && !CATCHERS.some((place) => place.test(path)))
    disorder.push(`${path}: nothing is caught here.`)
  if (/^export default/m.test(text)) disorder.push(`${path}: exports are named.`)
  if (/\b(TODO|FIXME|XXX)\b/.test(file.text)) disorder.push(`${path}: what is left to do belongs in an issue.`)
  if (VAGUE_NAMES.test(path)) disorder.push(`${path}: a file is named for the thing in it.`)
  if (!/\/[a-z0-9]+(-[a-z0-9]+)*\.(ts|js)$/.test(path)) disorder.push(`${path}: file names are kebab-case.`)
  return disorder
}

function judgeSize({ path, text }: SourceFile): readonly string[] {
  const limit = LINE_LIMIT[path.split('/')[0] as keyof typeof LINE_LIMIT]
  const lines = text.trimEnd().split('\n').length
  return lines > limit ? [`${path}: ${lines} lines; the limit is ${limit}.`] : []
}

function findCycles(files: readonly SourceFile[]): readonly string[] {
  const edges = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => resolve(file.path, target)),
    ]),
  )
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push(`Import cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`)
    else if (!done.has(path)) {
      for (const next of edges.get(path) ?? []) visit(next, [...trail, path])
      done.add(path)
    }
  }
  for (const path of edges.keys()) visit(path, [])
  return cycles
}

function withoutComments({ text }: SourceFile): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}

function layerOf(path: string): string {
  const parts = path.split('/')
  return parts.length > 2 ? (parts[1] ?? '') : '(root)'
}

function resolve(from: string, target: string): string {
  return new URL(target, `file:///${from}`).pathname.slice(1)
}

/** The rules of the source tree (docs/architecture.md) as a function over source texts, so that a test can plant violations. */

export interface SourceFile {
  /** From the repository's root: `src/protocol/authorization/pkce.ts`. */
  readonly path: string
  readonly text: string
}

interface Layer {
  readonly layers: readonly string[]
  readonly packages: readonly string[]
  /** Adapters and front ends may import any module of Node.js. */
  readonly node: 'any' | readonly string[]
  /** Reads no clock, no random numbers and no environment, and starts nothing. */
  readonly pure: boolean
}

const TELEMETRY_PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
]
/** What endpoints and tasks of operators both need, by noun. */
const NOUNS = ['clients', 'users', 'tokens', 'requests']
const INNER = ['base', 'protocol', 'ports']
/** What commands need that open the store themselves. */
const STORED = [...INNER, ...NOUNS, 'admin', 'store', 'keys', 'passwords', 'outbound', 'providers', 'config', 'server']

/** Which folder of src/ may import from which. It has the layers of the picture in docs/architecture.md. */
const LAYERS: Readonly<Record<string, Layer>> = {
  texts: { layers: [], packages: [], node: [], pure: true },
  base: { layers: ['texts'], packages: ['zod'], node: ['node:crypto'], pure: true },
  protocol: { layers: ['base'], packages: ['zod'], node: ['node:crypto', 'node:url'], pure: true },
  ports: { layers: ['texts', 'base', 'protocol'], packages: [], node: [], pure: true },
  clients: { layers: INNER, packages: [], node: ['node:assert/strict'], pure: true },
  users: { layers: INNER, packages: [], node: [], pure: true },
  tokens: { layers: INNER, packages: [], node: [], pure: true },
  // The records as answers to operators and the export of an account show them, which are the schemas too.
  answers: { layers: [...INNER, 'clients', 'tokens'], packages: ['zod'], node: [], pure: true },
  requests: { layers: [...INNER, 'clients'], packages: [], node: [], pure: true },
  endpoints: { layers: [...INNER, ...NOUNS, 'answers'], packages: [], node: ['node:assert/strict'], pure: true },
  checks: { layers: [...INNER, ...NOUNS], packages: [], node: ['node:assert/strict'], pure: true },
  admin: {
    layers: ['texts', ...INNER, ...NOUNS, 'answers', 'checks'],
    packages: ['zod'],
    node: ['node:assert/strict'],
    pure: true,
  },
  web: { layers: ['texts', ...INNER], packages: ['hono', 'uqr'], node: ['node:crypto'], pure: true },
  files: { layers: INNER, packages: [], node: 'any', pure: false },
  audit: { layers: INNER, packages: [], node: 'any', pure: false },
  store: { layers: [...INNER, 'files', 'audit'], packages: ['pg'], node: 'any', pure: false },
  keys: { layers: [...INNER, 'threads', 'files'], packages: ['jose'], node: 'any', pure: false },
  threads: { layers: INNER, packages: [], node: 'any', pure: false },
  passwords: { layers: [...INNER, 'threads'], packages: ['bcryptjs'], node: 'any', pure: false },
  passkeys: { layers: [...INNER, 'threads'], packages: ['@simplewebauthn/server'], node: 'any', pure: false },
  outbound: { layers: INNER, packages: [], node: 'any', pure: false },
  providers: { layers: INNER, packages: ['openid-client'], node: [], pure: false },
  mail: { layers: INNER, packages: ['nodemailer'], node: [], pure: false },
  metrics: { layers: INNER, packages: TELEMETRY_PACKAGES, node: 'any', pure: false },
  console: {
    layers: ['texts', ...INNER, 'clients', 'admin', 'web'],
    packages: ['zod'],
    node: ['node:crypto'],
    pure: true,
  },
  http: { layers: [...INNER, 'endpoints', 'admin', 'web', 'console'], packages: [], node: 'any', pure: false },
  config: { layers: ['texts', ...INNER, 'files'], packages: ['zod'], node: 'any', pure: false },
  server: {
    layers: [
      ...INNER,
      ...NOUNS,
      'endpoints',
      'checks',
      'admin',
      'web',
      'files',
      'audit',
      'store',
      'keys',
      'passwords',
      'passkeys',
      'outbound',
      'providers',
      'mail',
      'metrics',
      'console',
      'http',
      'config',
    ],
    packages: [],
    node: 'any',
    pure: false,
  },
  maintenance: { layers: [...STORED, 'audit', 'files'], packages: [], node: 'any', pure: false },
  doctor: { layers: [...STORED, 'checks', 'maintenance'], packages: ['zod'], node: 'any', pure: false },
  import: {
    layers: [...INNER, 'clients', 'users', 'admin', 'passwords', 'maintenance', 'doctor'],
    packages: ['zod'],
    node: 'any',
    pure: false,
  },
  library: {
    layers: [...INNER, ...NOUNS, 'endpoints', 'admin', 'http', 'config', 'server'],
    packages: ['zod'],
    node: 'any',
    pure: false,
  },
  cli: {
    layers: [
      'texts',
      ...INNER,
      'files',
      'checks',
      'admin',
      'metrics',
      'config',
      'server',
      'maintenance',
      'doctor',
      'import',
    ],
    packages: ['commander', '@clack/prompts', 'jose', 'yaml', 'zod'],
    node: 'any',
    pure: false,
  },
}

export function packagesOfLayers(): readonly string[] {
  return Object.values(LAYERS).flatMap(({ packages }) => packages)
}

/** A file is cut by noun; the limit only finds files that hold several. */
const LINE_LIMIT = 400
const FOLDER_LIMIT = 25
/** Below this number of files a folder is read at a glance. */
const SMALL_FOLDER = 5
/** Folders of `src` whose files belong together although most of them neither import nor are imported by another one. */
const FLAT_FOLDERS: Readonly<Record<string, string>> = {
  'src/base': 'what the language lacks; each file is of use alone',
  'src/clients': 'what the tasks of operators and the endpoints share about clients',
  'src/cli/commands': 'a file for each noun of the command line',
  'src/ports/records': 'a file for each record of the store',
  'src/store/nouns/token': 'a file for each noun of the requests for authorization and tokens',
  'src/server/background': 'a file for each work that runs beside the requests',
  'src/users': 'what the tasks of operators and the endpoints share about users',
}
/** What the folders of tools may import, apart from packages. */
const TOOL_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  tools: ['src', 'tools'],
  bench: ['src', 'tools', 'bench'],
  prove: ['src', 'tools', 'prove', 'release'],
  release: ['src', 'release'],
}
/** A package of its own, with what it may import: a judge shares no code with what it judges. */
const KIT = { folder: 'prove/kit/', packages: ['jose'] } as const
/** The folders of `src/endpoints/` that each builds on: a token request knows nothing of pages, nor the authorization of how a user signs in. */
const ENDPOINT_ORDER: Readonly<Record<string, readonly string[]>> = {
  token: ['openid'],
  openid: ['token'],
  authorization: ['token', 'openid'],
  'sign-in': ['token', 'openid', 'authorization'],
}
/** The subject of an identity assertion is found as a sign-in at the provider finds it. */
const OUT_OF_ORDER = 'src/endpoints/token/grants/asserted-subject.ts'
/** Where `catch` is allowed: the one place that makes replies, adapters, commands, rules that turn a throw into a fact, and a script of pages. */
const CATCHERS = [
  /^src\/(store|keys|files|passwords|passkeys|providers|mail|http|cli|config|library|server|maintenance|doctor|import)\//,
  /^src\/(protocol\/client\/keys|base\/(json|message))\.ts$/,
  /^src\/web\/browser\/passkey\.js$/,
  /^src\/console\/engine\/open-screen\.ts$/,
  /^src\/endpoints\/(token\/authenticate-client|token\/token|sign-in\/password)\.ts$/,
]
const IMPURE =
  /\b(Date\.now|new Date\(\)|Math\.random|process\.|performance\.now|setTimeout|setInterval|setImmediate|fetch\()/
/** The configuration, and the command line's entry, which hands the terminal's part of it on. */
const ENVIRONMENT_READERS: ReadonlySet<string> = new Set(['src/config/config.ts', 'src/cli/main.ts'])
/**
 * The folders that may open connections (threats.md OUT-14). `cli` and `doctor` ask the servers that the operator names. The
 * packages for the database and for traces connect too; LAYERS says which layers may import them.
 */
const MAY_CONNECT = ['outbound', 'cli', 'doctor']
const CONNECTS =
  /\bfetch\(|\bnew (WebSocket|EventSource)\b|\b(from|import|import\(|getBuiltinModule\()\s*['"]node:(https|http2|dns|dns\/promises|tls|dgram)['"]|import \* as \w+ from ['"]node:(http|net)['"]/
/** What other folders may take of the modules that listen and connect. */
const MAY_TAKE: Readonly<Record<string, readonly string[]>> = {
  http: ['createServer', 'IncomingMessage', 'ServerResponse', 'STATUS_CODES'],
  net: ['createServer', 'isIP', 'isIPv4', 'isIPv6', 'BlockList'],
}
/** What a client may do depends on these. Only `evaluateClientPolicy` decides by them. */
const POLICY_FACTS = [
  /\bverifiedAt\b(?!: undefined)/,
  /\bdomains\b.*\.of(Host|Document)\(/,
  /\bsettings\??\.registration\b|[{,]\s*registration\s*[,}]/,
  /\b(client|candidate|record|found|before)\??\.source\b|[{,]\s*source\s*[,}]|\bsource [!=]==/,
]
/** The policy; what gathers its facts or makes a new client; the declaration, storage and configuration of the facts; what shows them. */
const POLICY_READERS =
  /^src\/(protocol\/client\/policy|clients\/(evaluate|new)-client|server\/context|cli\/commands\/client|admin\/client\/(document|search)|(ports|store|config)\/.*)\.ts$/
const VAGUE_NAMES = /\/(utils?|helpers?|common|types|misc)\.(ts|js)$/

/** Every broken rule, a line each. Empty: every file follows the rules of the source tree. */
export function findDisorder(files: readonly SourceFile[]): readonly string[] {
  const sources = files.filter(({ path }) => path.startsWith('src/'))
  const imports = sources.flatMap((file) => importsOf(file).map((target) => ({ from: file.path, target })))
  return [
    ...(imports.length === 0 ? ['No imports were found: nothing was checked.'] : []),
    ...imports.flatMap(({ from, target }) => checkImport(from, target)),
    ...files.flatMap(checkTool),
    ...files.filter(({ path }) => path.startsWith(KIT.folder)).flatMap(checkKit),
    ...sources.flatMap(checkSource),
    ...files.flatMap(checkSize),
    ...checkFolders(files),
    ...findCycles(sources),
  ]
}

/** The files in which a merge left a conflict. */
export function findConflicts(files: readonly SourceFile[]): readonly string[] {
  return files.filter(({ text }) => /^(<{7}|>{7}) /m.test(text)).map(({ path }) => path)
}

export function countImports(files: readonly SourceFile[]): number {
  return files.flatMap(importsOf).length
}

/** Static, type-only, re-exporting and dynamic imports, and files named by `new URL('./language.ts', import.meta.url)`. */
function importsOf(file: SourceFile): readonly string[] {
  const found = withoutComments(file).matchAll(/(?:\bfrom|(?<!')\bimport|\bimport\(|\bnew URL\()\s*['"]([^'"]+)['"]/g)
  return [...found]
    .map((match) => match[1] ?? '')
    .filter((target) => !/^[a-z]+:\/\//.test(target) && !target.endsWith('.json'))
}

function checkImport(from: string, target: string): readonly string[] {
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
  if (!/\.(ts|js|md|json|txt)$/.test(target) && !target.endsWith('/'))
    return [`${from}: ${target} must be imported with its ending.`]
  const path = resolve(from, target)
  // `new URL` may name a file outside src, such as a page of docs/.
  if (!path.startsWith('src/')) return []
  const other = layerOf(path)
  const [folder = '', before = ''] = [from, path].map((file) => file.split('/')[2])
  const order = layerName === 'endpoints' && other === 'endpoints' ? ENDPOINT_ORDER[folder] : undefined
  if (order !== undefined && before in ENDPOINT_ORDER && ![folder, ...order].includes(before) && from !== OUT_OF_ORDER)
    return [`${from}: endpoints/${folder} may not import from endpoints/${before}.`]
  return other === layerName || layer.layers.includes(other)
    ? []
    : [`${from}: ${layerName} may not import from ${other}.`]
}

function checkTool(file: SourceFile): readonly string[] {
  const [folder = ''] = file.path.split('/')
  const allowed = TOOL_IMPORTS[folder]
  if (allowed === undefined) return []
  return importsOf(file)
    .filter((target) => /^\.+\//.test(target))
    .map((target) => resolve(file.path, target).split('/')[0] ?? '')
    .filter((other) => !allowed.includes(other) && /^(test|tools|bench|prove|release)$/.test(other))
    .map((other) => `${file.path}: ${folder} may not import from ${other}.`)
}

function checkKit(file: SourceFile): readonly string[] {
  return importsOf(file)
    .filter((target) => !/^\.+\//.test(target) || !resolve(file.path, target).startsWith(KIT.folder))
    .filter((target) => !target.startsWith('node:') && !(KIT.packages as readonly string[]).includes(target))
    .map((target) => `${file.path}: the kit may not import ${target}.`)
}

function checkSource(file: SourceFile): readonly string[] {
  const { path } = file
  const text = withoutComments(file)
  const disorder: string[] = []
  // A browser runs it, and its connections are those of the page.
  // The second has programs as texts, which the page of an API shows: test/console/set-up.test.ts compares them with the documentation.
  const isOfPages = path.startsWith('src/console/browser/') || path === 'src/console/screens/apis/recipes.ts'
  if (LAYERS[layerOf(path)]?.pure === true && !isOfPages && IMPURE.test(text))
    disorder.push(`${path}: a pure layer reads the clock, chance or environment.`)
  if (/\bprocess\.env\b/.test(text) && !isOfPages && !ENVIRONMENT_READERS.has(path))
    disorder.push(`${path}: only config.ts reads the environment.`)
  if (/\bcatch\b *[({]/.test(text) && !isOfPages && !CATCHERS.some((place) => place.test(path)))
    disorder.push(`${path}: nothing is caught here.`)
  if (!MAY_CONNECT.includes(layerOf(path)) && !isOfPages && opensConnections(text))
    disorder.push(`${path}: only src/outbound/ opens connections.`)
  if (!POLICY_READERS.test(path) && POLICY_FACTS.some((fact) => fact.test(text)))
    disorder.push(`${path}: only client/policy.ts decides by the source, verification, domain or mode of a client.`)
  if (/^export default/m.test(text)) disorder.push(`${path}: exports are named.`)
  if (/\b(TODO|FIXME|XXX)\b/.test(file.text)) disorder.push(`${path}: what is left to do belongs in an issue.`)
  if (VAGUE_NAMES.test(path)) disorder.push(`${path}: a file is named for the thing in it.`)
  if (!/\/[a-z0-9]+(-[a-z0-9]+)*\.(ts|js)$/.test(path)) disorder.push(`${path}: file names are kebab-case.`)
  return disorder
}

function opensConnections(text: string): boolean {
  if (CONNECTS.test(text)) return true
  const taken = text.matchAll(
    /\b(?:import|const) \{([^}]*)\} (?:from|= process\.getBuiltinModule\() *['"]node:(http|net)['"]/g,
  )
  return [...taken].some(([, names = '', module = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .some((name) => name !== '' && !name.startsWith('type ') && MAY_TAKE[module]?.includes(name) !== true),
  )
}

function checkSize({ path, text }: SourceFile): readonly string[] {
  const lines = text.trimEnd().split('\n').length
  return lines > LINE_LIMIT ? [`${path}: ${lines} lines; the limit is ${LINE_LIMIT}.`] : []
}

function checkFolders(files: readonly SourceFile[]): readonly string[] {
  const folders = Map.groupBy(files, ({ path }) => path.slice(0, path.lastIndexOf('/')))
  return [...folders].flatMap(([folder, members]) => {
    const many = `${folder}: ${members.length} files; the limit is ${FOLDER_LIMIT}.`
    const loose = `${folder}: most files neither import nor are imported by another one of the folder.`
    return [
      ...(members.length > FOLDER_LIMIT ? [many] : []),
      ...(folder.startsWith('src/') && !(folder in FLAT_FOLDERS) && isStoreRoom(members) ? [loose] : []),
    ]
  })
}

/** Whether most files of a folder have nothing to do with each other: it is where files were put that had no place. */
function isStoreRoom(members: readonly SourceFile[]): boolean {
  const paths = new Set(members.map(({ path }) => path))
  const edges = members.flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith('.'))
      .map((target) => [file.path, resolve(file.path, target)])
      .filter(([, target = '']) => paths.has(target)),
  )
  const connected = new Set(edges.flat())
  return members.length >= SMALL_FOLDER && connected.size * 2 < members.length
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

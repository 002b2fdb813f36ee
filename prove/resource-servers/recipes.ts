import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JwtType } from '../../src/ports/records/api.ts'
import type { ScopePrefix } from './declare-api.ts'
import type { Answer } from './resource-server.ts'
import {
  debianVersion,
  fillIn,
  preparePython,
  pythonVersion,
  pythonOf,
  requireModule,
  runProgram,
  versionIn,
  writeApacheConfiguration,
} from './programs.ts'
import type { Flaw } from './token-cases.ts'

/** The environment variables of a recipe. */
export interface RecipeEnvironment {
  readonly ISSUER: string
  readonly RESOURCE: string
  readonly MCP_PORT: string
  readonly API_ID: string
  readonly API_SECRET: string
  /** The address of the application behind a proxy. */
  readonly UPSTREAM: string
}

/** One resource server of docs/resource-servers.md. */
export interface Recipe {
  readonly name: string
  /** The folder below examples/resource-servers. */
  readonly folder: string
  readonly path: '/orders' | '/mcp'
  readonly prefix: ScopePrefix
  /** Whether the recipe introspects each token or verifies JWTs locally. */
  readonly way: 'introspection' | 'jwt'
  readonly jwtType: JwtType
  /** Flaws of a token that the recipe does not detect. */
  readonly overlooks: readonly Flaw[]
  /** Installs and builds once for all recipes of a folder. @throws Error if a program is missing */
  readonly prepare: (folder: string) => Promise<void>
  readonly start: (folder: string, environment: RecipeEnvironment) => readonly string[]
  /** Returns the versions of the programs. */
  readonly version: (folder: string) => Promise<string>
}

const usual = { path: '/orders', prefix: 'orders', way: 'introspection', jwtType: 'at+jwt', overlooks: [] } as const

export const RECIPES: readonly Recipe[] = [
  {
    ...usual,
    name: 'Node.js',
    folder: 'node',
    prepare: async () => undefined,
    start: (folder) => [process.execPath, join(folder, 'server.js')],
    version: async () => `Node.js ${process.versions.node}`,
  },
  {
    ...usual,
    name: 'jose',
    folder: 'jose',
    way: 'jwt',
    prepare: async (folder) => symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules')),
    start: (folder) => [process.execPath, join(folder, 'server.js')],
    version: async () => `jose ${versionIn('node_modules/jose/package.json', /"version": "([^"]+)"/)}`,
  },
  {
    ...usual,
    name: 'oauth4webapi',
    folder: 'oauth4webapi',
    way: 'jwt',
    prepare: async (folder) => symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules')),
    start: (folder) => [process.execPath, join(folder, 'server.js')],
    version: async () => `oauth4webapi ${versionIn('node_modules/oauth4webapi/package.json', /"version": "([^"]+)"/)}`,
  },
  {
    ...usual,
    name: 'FastMCP',
    folder: 'fastmcp',
    path: '/mcp',
    prefix: 'tasks',
    overlooks: ['bound'],
    prepare: preparePython,
    start: (folder) => [pythonOf(folder), join(folder, 'server.py')],
    version: (folder) => pythonVersion(folder, 'fastmcp'),
  },
  {
    ...usual,
    name: 'FastMCP, JWTVerifier',
    folder: 'fastmcp',
    path: '/mcp',
    prefix: 'tasks',
    way: 'jwt',
    overlooks: ['typ', 'bound'],
    prepare: preparePython,
    start(folder) {
      writeFileSync(join(folder, 'with-jwt.py'), withJwtVerifier(folder))
      return [pythonOf(folder), join(folder, 'with-jwt.py')]
    },
    version: (folder) => pythonVersion(folder, 'fastmcp'),
  },
  {
    ...usual,
    name: 'MCP Python SDK',
    folder: 'mcp-python',
    path: '/mcp',
    prepare: preparePython,
    start: (folder) => [pythonOf(folder), join(folder, 'server.py')],
    version: (folder) => pythonVersion(folder, 'mcp'),
  },
  {
    ...usual,
    name: 'PyJWT',
    folder: 'pyjwt',
    way: 'jwt',
    prepare: preparePython,
    start: (folder) => [pythonOf(folder), join(folder, 'server.py')],
    version: (folder) => pythonVersion(folder, 'PyJWT'),
  },
  {
    ...usual,
    name: 'go-oidc',
    folder: 'go-oidc',
    way: 'jwt',
    prepare: (folder) => runProgram('go', ['build', '-o', 'orders', '.'], folder),
    start: (folder) => [join(folder, 'orders')],
    version: async (folder) => `go-oidc ${versionIn(join(folder, 'go.mod'), /go-oidc\/v3 v(\S+)/)}`,
  },
  ...(
    [
      ['introspection', 'introspection', 'at+jwt'],
      ['at-jwt', 'jwt', 'at+jwt'],
      ['plain-jwt', 'jwt', 'JWT'],
    ] as const
  ).map(([profile, way, jwtType]): Recipe => ({
    ...usual,
    name: `Spring Security, ${profile}`,
    folder: 'spring',
    way,
    jwtType,
    prepare: (folder) => runProgram('mvn', ['-q', '-B', 'package'], folder),
    start: (folder) => ['java', '-jar', join(folder, 'target', 'orders.jar'), `--spring.profiles.active=${profile}`],
    version: async (folder) =>
      `Spring Boot ${versionIn(join(folder, 'pom.xml'), /<version>([^<]+)<\/version>\s*<relativePath/)}`,
  })),
  {
    ...usual,
    name: 'Apache httpd, mod_oauth2',
    folder: 'apache',
    overlooks: ['bound'],
    prepare: async () => requireModule('apache', 'mod_oauth2.so', 'libapache2-mod-oauth2'),
    start(folder, environment) {
      fillIn(join(folder, 'orders.conf'), environment)
      writeApacheConfiguration(folder, environment)
      return ['apache2', '-f', join(folder, 'httpd.conf'), '-D', 'FOREGROUND']
    },
    version: async () =>
      `httpd ${await debianVersion('apache2')}, mod_oauth2 ${await debianVersion('libapache2-mod-oauth2')}`,
  },
  {
    ...usual,
    name: 'nginx, njs',
    folder: 'nginx',
    prepare: async () => requireModule('nginx', 'ngx_http_js_module.so', 'libnginx-mod-http-js'),
    start(folder, environment) {
      fillIn(join(folder, 'nginx.conf'), environment)
      return [
        'nginx',
        '-p',
        folder,
        '-c',
        join(folder, 'nginx.conf'),
        '-g',
        'daemon off; pid nginx.pid;',
        '-e',
        'stderr',
      ]
    },
    version: async () => `nginx ${await debianVersion('nginx')}, njs ${await debianVersion('libnginx-mod-http-js')}`,
  },
]

/** The expected result of a request with such a token. */
export function expectedAnswer({ way, overlooks }: Recipe, flaw: Flaw): Answer {
  if (flaw === 'none' || overlooks.includes(flaw)) return 'served'
  // A verified JWT is accepted until it expires.
  if (flaw === 'revoked' && way === 'jwt') return 'served'
  // Grantor signs only access tokens, so introspection accepts either type.
  if (flaw === 'typ' && way === 'introspection') return 'served'
  return flaw === 'scope' ? 'forbidden' : 'unauthorized'
}

/** The server with the verifier of local_verification.py instead of its own. */
function withJwtVerifier(folder: string): string {
  const { server, imports, rest } = readVariant(folder, 'local_verification.py')
  return `${imports}\n${server
    .replace(/token_verifier=IntrospectionTokenVerifier\([^]*?\n {4}\),/, 'token_verifier=token_verifier,')
    .replace('auth = RemoteAuthProvider', `${rest}\nauth = RemoteAuthProvider`)}`
}

/** The server of FastMCP with the `auth` of oidc_proxy.py instead of its own. */
export function withOidcProxy(folder: string): string {
  const { server, imports, rest } = readVariant(folder, 'oidc_proxy.py')
  return `${imports}\n${server.replace(/^auth = RemoteAuthProvider\([^]*?\n\)\n/m, () => rest)}`
}

function readVariant(folder: string, file: string) {
  const [imports = '', ...rest] = readFileSync(join(folder, file), 'utf8').split('\n\n')
  return { server: readFileSync(join(folder, 'server.py'), 'utf8'), imports, rest: rest.join('\n\n') }
}

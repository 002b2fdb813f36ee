import { PAGES, type Origin } from './pages.ts'

/** What the release reads of package.json. */
export interface Manifest extends Readonly<Record<string, unknown>> {
  readonly version: string
}

/**
 * The versions of Node.js that the published package runs on. The server refuses SQLite before 3.51.3 (src/store/sqlite/database.ts).
 * Node.js 24.14.1 and 25 contain 3.51.2 or older ones; 24.15.0 and 26.0.0 contain 3.51.3: node -p process.versions.sqlite.
 */
const NODE_RANGE = '^24.15.0 || >=26'

/** The types of settings and tasks, which `npm run docs` writes. Their folder has the same place beside src and beside lib. */
export const API_TYPES_FILE = 'generated/api-types.d.ts'

/** The members of package.json that the published package has, too. */
const KEPT = [
  'name',
  'description',
  'license',
  'repository',
  'homepage',
  'bugs',
  'type',
  'bin',
  'dependencies',
  'peerDependencies',
  'peerDependenciesMeta',
] as const

/**
 * Returns package.json of the published package. It has no script, so that installing it runs nothing, and no Node.js, because its
 * user has one.
 */
export function publishedManifest(checkout: Manifest, commit: string | undefined): Manifest {
  return {
    version: checkout.version,
    // The name that npm has for it. The server says the commit in its version.
    ...(commit === undefined ? {} : { gitHead: commit }),
    ...Object.fromEntries(KEPT.map((name) => [name, checkout[name]])),
    engines: { node: NODE_RANGE },
    files: ['bin', 'lib', 'generated', ...PAGES],
    exports: {
      '.': { types: './lib/library/grantor.d.ts', default: './lib/library/grantor.js' },
      './package.json': './package.json',
    },
  }
}

/** Where the sources of a version are; undefined as long as package.json names no repository. */
export function originOf({ version, repository }: Manifest): Origin | undefined {
  const url = (repository as { readonly url?: string } | undefined)?.url
  return url === undefined
    ? undefined
    : { repository: url.replace(/^git\+/, '').replace(/\.git$/, ''), tag: `v${version}` }
}

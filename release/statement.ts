import { readFileSync } from 'node:fs'

/** What a release says about how it was made: an in-toto Statement v1 with the predicate `https://slsa.dev/provenance/v1`. */

export const STATEMENT = /\.intoto\.json$/
const PREDICATE = 'https://slsa.dev/provenance/v1'
/** The steps are those of docs/verify.md. The address of the page is not known yet. */
const BUILD_TYPE = 'urn:grantor:docs:verify.md'
const BY_HAND = 'urn:grantor:by-hand'

export interface Statement {
  readonly _type: 'https://in-toto.io/Statement/v1'
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[]
  readonly predicateType: typeof PREDICATE
  readonly predicate: {
    readonly buildDefinition: {
      readonly buildType: string
      readonly externalParameters: { readonly version: string }
      readonly resolvedDependencies: readonly Dependency[]
    }
    readonly runDetails: { readonly builder: { readonly id: string } }
  }
}

interface Dependency {
  readonly name: string
  readonly uri?: string
  readonly digest?: Readonly<Record<string, string>>
}

/** What the files depend on: with the same of it, another person gets the same files. */
export interface Origins {
  readonly version: string
  readonly commit: string
  /** SHA-256, in hex. */
  readonly lockfile: string
  readonly node: { readonly version: string; readonly digest: string }
  readonly npm: string
  /** The address of the workflow's run. undefined: a person ran the commands. */
  readonly run: string | undefined
}

/** It names no level of SLSA, because a build by hand reaches none, and the workflow's own attestation says more. */
export function statementOf(files: ReadonlyMap<string, string>, origins: Origins): Statement {
  const { version, commit, lockfile, node, npm, run } = origins
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...files].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: PREDICATE,
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version },
        resolvedDependencies: [
          { name: 'grantor', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lockfile } },
          { name: 'node', uri: `pkg:generic/node@${node.version}`, digest: { sha256: node.digest } },
          { name: 'npm', uri: `pkg:npm/npm@${npm}` },
        ],
      },
      runDetails: { builder: { id: run ?? BY_HAND } },
    },
  }
}

/** @throws Error if the file is no such statement */
export function readStatement(path: string): Statement {
  const statement = JSON.parse(readFileSync(path, 'utf8')) as Statement
  if (statement.predicateType !== PREDICATE) throw new Error(`${path} is no statement of provenance.`)
  return statement
}

/** The version and the commit that a statement is about, in words. */
export function subjectOf({ predicate }: Statement): string {
  const { externalParameters, resolvedDependencies } = predicate.buildDefinition
  const commit = resolvedDependencies.find(({ name }) => name === 'grantor')?.digest?.['gitCommit']
  return `Grantor ${externalParameters.version}, commit ${commit}`
}

/** What differs between the origins of a release and those of this checkout, in words. */
export function differences(statement: Statement, here: Origins): readonly string[] {
  const [theirs, ours] = [statement, statementOf(new Map(), here)].map(
    ({ predicate }) => new Map(predicate.buildDefinition.resolvedDependencies.map((one) => [one.name, one])),
  )
  return [...(ours ?? [])]
    .filter(([name, one]) => JSON.stringify(one) !== JSON.stringify(theirs?.get(name)))
    .map(([name, one]) => `${name}: ${say(theirs?.get(name))} in the release, ${say(one)} here`)
}

function say(dependency: Dependency | undefined): string {
  return [dependency?.uri, ...Object.values(dependency?.digest ?? {})].filter((text) => text !== undefined).join(' ')
}

import { createHash } from 'node:crypto'

/** The two documents of a release about its dependencies, in the JSON of CycloneDX 1.5. */

/** What both are about. */
export interface Described {
  readonly version: string
  /** SHA-256 of the packed package, in hex. */
  readonly digest: string
  /** The time of the commit, so that two builds of it have the same documents. */
  readonly at: Date
}

/** An advisory about a dependency, a row of release/vex.json. The states and justifications are those of CycloneDX 1.5. */
export interface Advisory {
  /** `GHSA-…` or `CVE-…`. */
  readonly id: string
  /** The dependency: `hono`. */
  readonly package: string
  readonly state: 'exploitable' | 'in_triage' | 'not_affected' | 'false_positive'
  /** Only of what does not affect. */
  readonly justification?: 'code_not_present' | 'code_not_reachable' | 'requires_configuration' | 'protected_at_runtime'
  /** Why, for those who run Grantor. */
  readonly detail: string
}

interface Bill {
  readonly metadata: { readonly component: Readonly<Record<string, unknown>> }
  readonly components: readonly { readonly name: string; readonly purl: string; readonly 'bom-ref': string }[]
}

/**
 * The bill of materials that npm wrote, with what npm leaves to chance: the serial number and the time. npm also calls the component by
 * the name of its folder.
 */
export function billOfMaterials(written: string, described: Described): string {
  const bill = JSON.parse(written) as Bill
  const component = { ...bill.metadata.component, name: 'grantor', hashes: [hashOf(described)] }
  return print({
    ...bill,
    serialNumber: `urn:uuid:${serialOf('bom', described)}`,
    metadata: { ...bill.metadata, timestamp: described.at.toISOString(), component },
  })
}

/** Which advisories about the components of a bill affect the release, and why not (VEX). @throws Error when a component is unknown */
export function exploitability(advisories: readonly Advisory[], bill: string, described: Described): string {
  const { components } = JSON.parse(bill) as Bill
  const vulnerabilities = advisories.map(({ id, package: name, state, justification, detail }) => {
    const affected = components.filter((component) => component.name === name)
    if (affected.length === 0)
      throw new Error(`release/vex.json: ${id} is about ${name}, which the release does not have.`)
    return {
      id,
      analysis: { state, ...(justification !== undefined && { justification }), detail },
      affects: affected.map((component) => ({
        ref: `urn:cdx:${serialOf('bom', described)}/1#${encodeURIComponent(component['bom-ref'])}`,
      })),
    }
  })
  return print({
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${serialOf('vex', described)}`,
    version: 1,
    metadata: {
      timestamp: described.at.toISOString(),
      component: { type: 'application', name: 'grantor', version: described.version, hashes: [hashOf(described)] },
    },
    vulnerabilities,
  })
}

/** The advisories that `npm audit --json` found in what is published, and that have no row. */
export function unexplained(audit: string, advisories: readonly Advisory[]): readonly string[] {
  interface Finding {
    readonly via: readonly (string | { readonly name: string; readonly title: string; readonly url: string })[]
  }
  const { vulnerabilities } = JSON.parse(audit) as { readonly vulnerabilities?: Readonly<Record<string, Finding>> }
  if (vulnerabilities === undefined) throw new Error('npm audit did not answer.')
  const found = Object.values(vulnerabilities).flatMap(({ via }) => via.filter((one) => typeof one !== 'string'))
  return found
    .filter(({ name, url }) => !advisories.some((row) => row.package === name && url.endsWith(`/${row.id}`)))
    .map(({ name, title, url }) => `${name}: ${title} (${url})`)
}

function hashOf({ digest }: Described): object {
  return { alg: 'SHA-256', content: digest }
}

/** A UUID of version 8 (RFC 9562 §5.8), the same for the same package. */
function serialOf(kind: 'bom' | 'vex', { digest }: Described): string {
  const hex = createHash('sha256').update(`${kind} ${digest}`).digest('hex')
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function print(document: object): string {
  return `${JSON.stringify(document, undefined, 2)}\n`
}

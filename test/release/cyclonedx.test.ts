import assert from 'node:assert/strict'
import { test } from 'node:test'
import { billOfMaterials, exploitability, unexplained, type Advisory } from '../../release/cyclonedx.ts'
import { readAdvisories } from '../../release/contents.ts'

const DESCRIBED = { version: '1.2.3', digest: 'a'.repeat(64), at: new Date('2026-12-01T00:00:00Z') }
const component = (name: string, version: string) => ({
  name,
  purl: `pkg:npm/${name}@${version}`,
  'bom-ref': `${name}@${version}`,
})
/** As npm writes it, with another number and time each time. */
const written = (serialNumber: string, timestamp: string): string =>
  JSON.stringify({
    specVersion: '1.5',
    serialNumber,
    metadata: { timestamp, component: { name: 'package', version: '1.2.3' } },
    components: [component('hono', '4.0.0'), component('tslib', '1.0.0'), component('tslib', '2.0.0')],
  })
const ROW: Advisory = {
  id: 'GHSA-aaaa-bbbb-cccc',
  package: 'tslib',
  state: 'not_affected',
  justification: 'code_not_reachable',
  detail: 'Nothing imports it.',
}

test('CycloneDX 1.5: the bill of materials depends on the package alone, and names it with its digest', () => {
  const one = billOfMaterials(written('urn:uuid:1', '2026-01-01T00:00:00Z'), DESCRIBED)
  assert.equal(billOfMaterials(written('urn:uuid:2', '2027-01-01T00:00:00Z'), DESCRIBED), one)
  const { serialNumber, metadata } = JSON.parse(one) as {
    readonly serialNumber: string
    readonly metadata: Readonly<Record<string, unknown>>
  }
  assert.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.deepEqual(metadata, {
    timestamp: '2026-12-01T00:00:00.000Z',
    component: { name: 'grantor', version: '1.2.3', hashes: [{ alg: 'SHA-256', content: DESCRIBED.digest }] },
  })
  assert.notEqual(billOfMaterials(written('urn:uuid:1', ''), { ...DESCRIBED, digest: 'b'.repeat(64) }), one)
})

test('CycloneDX 1.5: an advisory says for each affected component whether it concerns the release, and why', () => {
  const bill = billOfMaterials(written('', ''), DESCRIBED)
  const { serialNumber } = JSON.parse(bill) as { readonly serialNumber: string }
  const { vulnerabilities } = JSON.parse(exploitability([ROW], bill, DESCRIBED)) as { vulnerabilities: unknown }
  assert.deepEqual(vulnerabilities, [
    {
      id: ROW.id,
      analysis: { state: 'not_affected', justification: 'code_not_reachable', detail: 'Nothing imports it.' },
      affects: ['tslib%401.0.0', 'tslib%402.0.0'].map((ref) => ({
        ref: `${serialNumber.replace('urn:uuid', 'urn:cdx')}/1#${ref}`,
      })),
    },
  ])
  assert.throws(() => exploitability([{ ...ROW, package: 'left-pad' }], bill, DESCRIBED), /left-pad, which the release/)
})

test('a finding of npm audit without a row in release/vex.json stops a release', () => {
  const finding = (name: string, id: string) => ({
    via: ['other', { name, title: 'A fault', url: `https://advisories.example/${id}` }],
  })
  const audit = JSON.stringify({
    vulnerabilities: { tslib: finding('tslib', ROW.id), hono: finding('hono', 'GHSA-1111-2222-3333') },
  })
  assert.deepEqual(unexplained(audit, [ROW]), ['hono: A fault (https://advisories.example/GHSA-1111-2222-3333)'])
  assert.equal(unexplained(audit, []).length, 2)
  assert.throws(() => unexplained('{"error":{"code":"ENOTFOUND"}}', []), /did not answer/)
})

test('each row of release/vex.json says why', () => {
  for (const { id, state, justification, detail } of readAdvisories()) {
    assert.match(id, /^(GHSA|CVE)-/)
    assert.ok(detail.length > 20, id)
    assert.equal(justification !== undefined, state === 'not_affected', id)
  }
})

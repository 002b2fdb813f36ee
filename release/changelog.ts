const UNRELEASED = '## [Unreleased]'

/**
 * Turns the section *Unreleased* into the section of a version, below a new, empty *Unreleased*. Returns the new text, and the
 * notes of the version.
 *
 * @throws Error when there is no such section, it is empty, or the version has a section already
 */
export function releaseChangelog(
  text: string,
  version: string,
  date: string,
): { readonly text: string; readonly notes: string } {
  const start = text.indexOf(`${UNRELEASED}\n`)
  if (start === -1) throw new Error(`CHANGELOG.md has no section ${UNRELEASED}.`)
  if (text.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has a section for ${version} already.`)
  const rest = text.slice(start + UNRELEASED.length)
  const next = rest.search(/\n## \[/)
  const notes = (next === -1 ? rest : rest.slice(0, next)).trim()
  if (notes === '') throw new Error('The section Unreleased of CHANGELOG.md is empty: there is nothing to release.')
  const heading = `${UNRELEASED}\n\n## [${version}] - ${date}`
  return { text: `${text.slice(0, start)}${heading}${rest}`, notes }
}

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/

/**
 * The first release may have the version that package.json has already.
 *
 * @throws Error when the version is not of the form 1.2.3 (SemVer 2.0.0 §2), or not above the current one
 */
export function checkVersion(version: string, current: string, isFirst: boolean): void {
  const [next, last] = [VERSION.exec(version), VERSION.exec(current)].map((found) => found?.slice(1).map(Number))
  if (next === undefined) throw new Error(`"${version}" is not a version such as 1.2.3.`)
  const isAbove = next.some((part, index) => {
    const before = next.slice(0, index)
    return before.every((one, at) => one === last?.[at]) && part > (last?.[index] ?? -1)
  })
  if (!isAbove && !(isFirst && version === current))
    throw new Error(`${version} is not above ${current}, the version in package.json.`)
}

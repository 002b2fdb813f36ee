import type { ClientInspection } from '../ports/inspection.ts'
import { forShell } from '../base/shell.ts'
import { MAXIMA } from '../base/maxima.ts'
import { fitsToken, type GroupClaim, groupsOfClaim, wordsOf } from '../protocol/access/group-claim.ts'
import { listedIdOf } from '../protocol/client/identifier.ts'
import { type Examination, type Finding, warning } from './finding.ts'

const CHECK = 'groups'
/** The groups that a finding names. */
const NAMED = 3

/** A client or an API that reads groups. */
interface Reader {
  /** `The client grafana`. */
  readonly name: string
  readonly claim: GroupClaim
  /** The command that changes the claim. */
  readonly command: string
}

/** Checks the groups that clients and APIs read: whether they exist, and whether a token has room for all of them. */
export function checkGroups({ store: { clients } }: Examination): readonly Finding[] {
  if (clients === undefined) return []
  return readersOf(clients).flatMap((reader) => [...checkMissing(reader, clients), ...checkRoom(reader, clients)])
}

function readersOf({ groupReaders, apis }: ClientInspection): readonly Reader[] {
  const ofClients = groupReaders.map((client) => {
    const id = listedIdOf(client)
    return {
      name: `The client ${id}`,
      claim: client.rules.groupClaim,
      command: `grantor client set-rules ${forShell(id)}`,
    }
  })
  const ofApis = apis.map(({ resource, groups: claim }) => ({
    name: `The API ${resource}`,
    claim,
    command: `grantor api update ${forShell(resource)}`,
  }))
  return [...ofClients, ...ofApis].flatMap(({ claim, ...reader }) => (claim === undefined ? [] : { ...reader, claim }))
}

/** A later group with the id would have the word of the earlier one. */
function checkMissing({ name, claim, command }: Reader, { missingGroups }: ClientInspection): readonly Finding[] {
  const named = new Set(groupsOfClaim(claim))
  const missing = missingGroups.filter((id) => named.has(id))
  if (missing.length === 0) return []
  const some = [...missing.slice(0, NAMED), ...(missing.length > NAMED ? ['…'] : [])].join(', ')
  return [
    warning(
      CHECK,
      `${name} reads groups that do not exist: ${some}.`,
      `Create them, or name the others alone: ${command} --group <group>=<word>`,
    ),
  ]
}

/** A claim is complete or absent. */
function checkRoom({ name, claim, command }: Reader, { serverGroups }: ClientInspection): readonly Finding[] {
  const isAll = claim.words.length === 0
  const groups = isAll ? serverGroups : groupsOfClaim(claim)
  if (fitsToken(wordsOf(claim, groups))) return []
  return [
    warning(
      CHECK,
      `${name} reads ${isAll ? 'all groups' : 'groups'}, and a token has no room for all of these: at most ${MAXIMA.groupsOfToken.most}, in ${MAXIMA.groupsInToken.most} bytes. The claim is absent in the tokens of users who are in more, and complete at userinfo and in introspection.`,
      `Name the groups that it needs, with short words: ${command} --group <group>=<word>`,
    ),
  ]
}

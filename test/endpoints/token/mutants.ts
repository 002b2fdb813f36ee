/** Variations of a credential that a careless parser would accept. */
export function mutantsOf(credential: string): readonly string[] {
  const swap = (at: number): string => {
    const letter = credential[at] === 'A' ? 'B' : 'A'
    return credential.slice(0, at) + letter + credential.slice(at + 1)
  }
  return [
    ...[1, 2, 10, 22, 43, credential.length - 4].map((cut) => credential.slice(0, -cut)),
    ...['A', '=', '==', '.', ' ', '%00', '\u0000', '\n'].map((tail) => credential + tail),
    ` ${credential}`,
    credential.toUpperCase(),
    credential.slice(4),
    `gxx_${credential.slice(4)}`,
    ...[4, 20, 40, 60, credential.length - 23, credential.length - 22, credential.length - 1].map(swap),
    credential.replace('_', '＿'),
    credential.replace('g', '\u0261'),
    `${credential},${credential}`,
  ].filter((mutant) => mutant !== credential)
}

/** The network and the two wider ones that contain it, the widest first; `unreadable` has no wider ones. */
export function networksAround(network: string): readonly string[] {
  const separator = network.includes(':') ? ':' : '.'
  const second = network.indexOf(separator, network.indexOf(separator) + 1)
  const third = network.indexOf(separator, second + 1)
  return third === -1 ? [network] : [network.slice(0, second), network.slice(0, third), network]
}

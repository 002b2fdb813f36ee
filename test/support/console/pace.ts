/** Pages of the console follow each other without the gap that leaves time to tokens (threats.md CON-11), for tests of thousands of them. */
export function hurryPages(test: { readonly after: (end: () => void) => void }): void {
  const now = performance.now.bind(performance)
  performance.now = () => now() * 1000
  test.after(() => void (performance.now = now))
}

// Jest runs a test in a realm of its own, so an error that Node.js itself made (a refused connection, a missing file)
// is no `instanceof Error` there, although it is one in production. Code under test must not see that difference.
const NATIVE = [Error, TypeError, RangeError, SyntaxError] as const;
const isOfRealm = Function.prototype[Symbol.hasInstance];

for (const native of NATIVE) {
  Object.defineProperty(native, Symbol.hasInstance, {
    configurable: true,
    value(this: unknown, value: unknown): boolean {
      if (isOfRealm.call(this as typeof Error, value)) return true;
      // Classes that extend the native one inherit this and stay as strict as they were.
      return this === native && hasAncestor(value, native.name);
    },
  });
}

function hasAncestor(value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (let found: unknown = Object.getPrototypeOf(value); found; found = Object.getPrototypeOf(found)) {
    if (Object.hasOwn(found, 'constructor') && (found as { constructor: { name: string } }).constructor.name === name) {
      return true;
    }
  }
  return false;
}

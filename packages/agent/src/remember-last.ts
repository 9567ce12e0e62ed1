/** The same function, which makes its result anew only when one of its two arguments is another than the last time. For results that are never changed. */
export function rememberLast<A, B, R>(make: (a: A, b: B) => R): (a: A, b: B) => R {
  let last: { readonly a: A; readonly b: B; readonly result: R } | null = null;
  return (a, b) => {
    if (last === null || last.a !== a || last.b !== b) last = { a, b, result: make(a, b) };
    return last.result;
  };
}

// The container that JupyterLite loads (module federation, by hand): gives the extension what the page shares.
var _JUPYTERLAB = _JUPYTERLAB || {};
(() => {
  let shared = {};
  const load = async (name) => {
    const versions = Object.values(shared[name] ?? {});
    if (versions.length === 0) {
      throw new Error(`JupyterLite does not share ${name}`);
    }
    return (await versions[0].get())();
  };
  _JUPYTERLAB["swath-kernel"] = {
    init: async (scope) => {
      shared = scope;
    },
    get: async () => {
      const [services, { createExtension }] = await Promise.all([
        load("@jupyterlite/services"),
        import("/extensions/swath-kernel/extension.mjs"),
      ]);
      const extension = createExtension(services);
      return () => extension;
    },
  };
})();

export { type AddressGuard, createAddressGuard } from "./address-guard.ts";
export { isPublicAddress } from "./public-address.ts";

/** Addresses of folders that are a product: as the agency names it with its suffix or without, and stores of Zarr. */
export const PRODUCT_FOLDER: RegExp = /\.(?:SAFE|SEN3|zarr)\/?$|(?:^|\/)S[123][A-D]_[A-Z0-9]{2}\w{40,}\/?$/i;

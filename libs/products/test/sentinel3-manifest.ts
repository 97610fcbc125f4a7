/** Name of a product that nobody made. */
export const SENTINEL3_NAME =
  "S3B_OL_2_LFR____20240601T093000_20240601T093300_20240602T120000_0180_093_307_2160_LN1_O_NT_002.SEN3";

/** Its manifest, with the elements that the product format specification of Sentinel-3 has for what an item tells. */
export const SENTINEL3_MANIFEST = `<?xml version="1.0" encoding="UTF-8"?>
<xfdu:XFDU xmlns:xfdu="urn:ccsds:schema:xfdu:1" xmlns:safe="http://www.esa.int/safe/sentinel/1.1"
    xmlns:s3="http://www.esa.int/safe/sentinel/sentinel-3/1.0" xmlns:gml="http://www.opengis.net/gml"
    xmlns:olci="http://www.esa.int/safe/sentinel/sentinel-3/olci/1.0">
  <metadataSection>
    <safe:acquisitionPeriod>
      <safe:startTime>2024-06-01T09:30:00.000000Z</safe:startTime>
      <safe:stopTime>2024-06-01T09:33:00.000000Z</safe:stopTime>
    </safe:acquisitionPeriod>
    <safe:platform>
      <safe:nssdcIdentifier>2018-039A</safe:nssdcIdentifier>
      <safe:familyName>Sentinel-3</safe:familyName>
      <safe:number>B</safe:number>
    </safe:platform>
    <safe:footPrint><gml:posList>52 10 50 26 40 24 42 11 52 10</gml:posList></safe:footPrint>
    <s3:generalProductInformation>
      <s3:productName>${SENTINEL3_NAME}</s3:productName>
      <s3:productType>OL_2_LFR___</s3:productType>
      <s3:timeliness>NT</s3:timeliness>
    </s3:generalProductInformation>
    <olci:classificationSummary>
      <s3:salineWaterPixels percentage="12.25"/>
      <s3:landPixels percentage="26.25"/>
      <s3:cloudyPixels percentage="61.5"/>
    </olci:classificationSummary>
    <olci:pixelQualitySummary>
      <olci:invalidPixels value="0" percentage="0.000000"/>
      <olci:duplicatedPixels value="300000" percentage="1.500000"/>
    </olci:pixelQualitySummary>
    <safe:orbitNumber type="start" groundTrackDirection="descending">31000</safe:orbitNumber>
    <safe:relativeOrbitNumber type="start" groundTrackDirection="descending">307</safe:relativeOrbitNumber>
  </metadataSection>
  <dataObjectSection>
    <dataObject ID="iwvData">
      <byteStream mimeType="application/x-netcdf" size="1"><fileLocation locatorType="URL" href="./iwv.nc"/></byteStream>
    </dataObject>
  </dataObjectSection>
</xfdu:XFDU>
`;
